"""List everything that ships, with versions, hashes and licences, as CycloneDX 1.6 (JSON).

    python tools/sbom.py > build/sbom.cdx.json
    python tools/sbom.py --page > docs/licences.md

Packages come from the locks, so that the list says what `make setup` and the container install;
licences from requirements/licences.toml; models and the lexicon from the files of the package. The
same checkout gives the same bytes: there is no time in it, and the serial number is a digest.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from abstrag import __version__

ROOT: Final = Path(__file__).parent.parent
REQUIREMENTS: Final = ROOT / "requirements"
WEIGHTS: Final = ROOT / "src" / "abstrag" / "neural" / "weights"
LEXICON: Final = ROOT / "src" / "abstrag" / "lexicon"
_PIN: Final = re.compile(r"^([\w.-]+)==([^\s;\\]+)", re.MULTILINE)
_HASH: Final = re.compile(r"--hash=sha256:([0-9a-f]{64})")

Component = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Package:
    """A pinned package, the files it may be installed from, and what brings it along."""

    name: str
    version: str
    hashes: tuple[str, ...]
    brought_by: str  # abstrag for what everybody gets
    licence: str

    @property
    def required(self) -> bool:
        """Whether everybody gets it."""
        return self.brought_by == "abstrag"


def packages() -> list[Package]:
    """Read what comes with abstrag, with it as a server, with abstrag-bench, in order of names."""
    licences = tomllib.loads((REQUIREMENTS / "licences.toml").read_text("utf-8"))
    bench = tomllib.loads((ROOT / "bench" / "pyproject.toml").read_text("utf-8"))
    asked = {re.split(r"[^\w.-]", line)[0] for line in bench["project"]["dependencies"]}
    found: dict[tuple[str, str, tuple[str, ...]], str] = {}
    for brought_by, pins in (
        ("abstrag", _pins("runtime")),
        ("server, postgres", _pins("server")),
        ("abstrag-bench", (pin for pin in _pins("dev") if pin[0] in asked)),
    ):
        for pin in pins:
            found.setdefault(pin, brought_by)
    return [
        Package(*pin, brought_by, licences[pin[0]]) for pin, brought_by in sorted(found.items())
    ]


def _pins(lock: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    text = (REQUIREMENTS / f"{lock}.lock").read_text("utf-8")
    for entry in re.split(r"\n(?=\w)", text):
        if pin := _PIN.match(entry):
            yield pin[1], pin[2], tuple(sorted(_HASH.findall(entry)))


def bill() -> Mapping[str, Any]:
    """Return the bill of materials."""
    components = [*map(_library, packages()), *_models(), _lexicon()]
    made = json.dumps(components, sort_keys=True)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, made)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "abstrag",
                "name": "abstrag",
                "version": __version__,
                "licenses": [{"expression": "Apache-2.0"}],
                "purl": f"pkg:pypi/abstrag@{__version__}",
            }
        },
        "components": components,
        "dependencies": [{"ref": "abstrag", "dependsOn": [each["bom-ref"] for each in components]}],
    }


def _library(package: Package) -> Component:
    place = f"pkg:pypi/{package.name}@{package.version}"
    return {
        "type": "library",
        "bom-ref": place,
        "name": package.name,
        "version": package.version,
        "scope": "required" if package.required else "optional",
        "licenses": [{"expression": package.licence}],
        "purl": place,
        "hashes": [{"alg": "SHA-256", "content": digest} for digest in package.hashes],
    }


def _models() -> Iterator[Component]:
    for path in sorted(WEIGHTS.glob("*/manifest.json")):
        manifest = json.loads(path.read_text("utf-8"))
        yield {
            "type": "machine-learning-model",
            "bom-ref": manifest["name"],
            "name": manifest["name"],
            "scope": "required",
            "licenses": [{"expression": manifest["licence"]}],
            "hashes": _digests(path.parent),
        }


def _lexicon() -> Component:
    return {
        "type": "data",
        "bom-ref": "wordnet-3.0",
        "name": "WordNet, compiled",
        "version": "3.0",
        "scope": "required",
        "licenses": [{"license": {"name": "WordNet 3.0 license"}}],
        "hashes": [_digest(LEXICON / "wordnet.bin")],
    }


def _digests(folder: Path) -> list[Mapping[str, str]]:
    return [_digest(path) for path in sorted(folder.iterdir()) if path.is_file()]


def _digest(path: Path) -> Mapping[str, str]:
    return {"alg": "SHA-256", "content": sha256(path.read_bytes()).hexdigest()}


def page() -> str:
    """Return the page of the documentation that lists the licences."""
    rows: dict[str, Package] = {each.name: each for each in packages()}
    lines = [
        "# Licences of everything that ships",
        "",
        "Made by `python tools/sbom.py --page`; `make sbom` writes the whole list, with versions",
        "and hashes, as CycloneDX. abstrag itself is Apache-2.0, and `NOTICE` says what the models",
        "and the lexicon come from. Nothing that everybody installs has a stronger copyleft than",
        "the MPL, which concerns its own files alone; psycopg, for stores on PostgreSQL, is under",
        "the LGPL.",
        "",
        "| package | licence | installed with |",
        "|---|---|---|",
    ]
    lines += [f"| {name} | {each.licence} | {each.brought_by} |" for name, each in rows.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="List everything that ships.")
    parser.add_argument("--page", action="store_true", help="Licences only, as a page.")
    given = parser.parse_args()
    print(page() if given.page else json.dumps(bill(), indent=1), end="" if given.page else "\n")


if __name__ == "__main__":
    main()
