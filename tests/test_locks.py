"""The locked requirements are complete, hashed and in step with pyproject.toml."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from abstrag import __version__
from tools.split_training_lock import split

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
BENCH = tomllib.loads((ROOT / "bench" / "pyproject.toml").read_text("utf-8"))
RUNTIME: list[str] = PROJECT["project"]["dependencies"]
OF_BENCH = [each for each in BENCH["project"]["dependencies"] if not each.startswith("abstrag==")]
GROUPS: dict[str, list[str | dict[str, str]]] = PROJECT["dependency-groups"]
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
PIN = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[^\s;\\]+)", re.MULTILINE)


def group(name: str) -> list[str]:
    """Return what a group asks for, with what the groups that it includes ask for."""
    found: list[str] = []
    for entry in GROUPS[name]:
        found += group(entry["include-group"]) if isinstance(entry, dict) else [entry]
    return found


LOCKS = {
    "runtime": RUNTIME,
    "build": group("build"),
    "dev": [*RUNTIME, *OF_BENCH, *group("dev")],
    "docs": group("docs"),
    "local-llm": group("local-llm"),
    "server": [*RUNTIME, *EXTRAS["server"], *EXTRAS["postgres"]],
    "frameworks": [*RUNTIME, *group("frameworks")],
    "training": [each for each in group("training") if not each.startswith("torch")],
    "torch-cpu": [each for each in group("training") if each.startswith("torch")],
    "torch-gpu": [each for each in group("training") if each.startswith("torch")],
}


def lock(name: str) -> str:
    return (ROOT / "requirements" / f"{name}.lock").read_text("utf-8")


def pins(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for match in PIN.finditer(text):
        found.setdefault(canonicalize_name(match["name"]), []).append(match["version"])
    return found


@pytest.mark.parametrize("name", LOCKS)
def test_every_direct_dependency_is_pinned_within_its_bounds(name: str) -> None:
    pinned = pins(lock(name))
    for line in LOCKS[name]:
        requirement = Requirement(line)
        versions = pinned.get(canonicalize_name(requirement.name), [])
        assert versions, f"{line} is not in {name}.lock; run make lock"
        assert all(requirement.specifier.contains(v) for v in versions), f"{line}: run make lock"


@pytest.mark.parametrize("name", LOCKS)
def test_every_pin_has_hashes_and_no_lock_names_a_host(name: str) -> None:
    entries = re.split(r"\n(?=\w)", lock(name))
    assert all("--hash=sha256:" in entry for entry in entries if PIN.match(entry))
    assert not re.search(r"://|--(extra-)?index-url|--find-links", lock(name))


def test_the_locks_agree_with_each_other() -> None:
    names = ("runtime", "build", "dev", "docs", "frameworks", "server", "training")
    runtime, build, dev, docs, frameworks, server, training = (pins(lock(name)) for name in names)
    assert {name: dev.get(name) for name in runtime} == runtime
    assert {name: dev.get(name) for name in build} == build
    assert {name: frameworks.get(name) for name in runtime} == runtime
    for other in (docs, frameworks, server, training):
        shared = dev.keys() & other.keys()
        assert {n: other[n] for n in shared} == {n: dev[n] for n in shared}


def test_the_benchmark_asks_for_the_package_of_its_own_release() -> None:
    (tied,) = set(BENCH["project"]["dependencies"]) - set(OF_BENCH)
    assert tied == f"abstrag=={__version__}"
    assert BENCH["project"]["requires-python"] == PROJECT["project"]["requires-python"]
    place = ROOT / "bench" / BENCH["tool"]["hatch"]["version"]["path"]
    assert place.resolve() == ROOT / PROJECT["tool"]["hatch"]["version"]["path"]


@pytest.mark.parametrize(
    "extra", ["langchain", "llama-index", "haystack", "pyterrier", "telemetry"]
)
def test_the_frameworks_are_tested_within_the_bounds_that_users_get(extra: str) -> None:
    asked = EXTRAS[extra]
    assert set(asked) <= set(group("frameworks"))


def test_torch_for_processors_and_for_graphics_cards_are_locked_apart() -> None:
    cuda = "nvidia-nccl==1 \\\n    --hash=sha256:a\n    # via torch\n"
    made = split(f"# head\n{cuda}numpy==4\ntorch==2.0 \\\n    --hash=sha256:b\ntriton==3\n")
    assert {name: pins(text) for name, text in made.items()} == {
        "training": {"numpy": ["4"]},
        "torch-cpu": {"torch": ["2.0+cpu"]},
        "torch-gpu": {"nvidia-nccl": ["1"], "torch": ["2.0"], "triton": ["3"]},
    }
