"""What ships is listed with versions, hashes and licences, and the list is true."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from tools.sbom import REQUIREMENTS, bill, packages, page

ROOT = Path(__file__).parent.parent
LICENCES: dict[str, str] = tomllib.loads((REQUIREMENTS / "licences.toml").read_text("utf-8"))
EVERYBODY = {
    *("MIT", "MIT-0", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "Apache-2.0", "ISC", "PSF-2.0"),
    *("Zlib", "CC0-1.0", "MPL-2.0"),
}


def test_every_package_of_the_locks_is_listed_and_no_other() -> None:
    assert {package.name for package in packages()} == LICENCES.keys()


def test_what_everybody_installs_has_a_licence_that_asks_for_little() -> None:
    for package in packages():
        named = set(re.split(r" (?:AND|OR|WITH) ", package.licence))
        allowed = EVERYBODY if package.required else EVERYBODY | {"LGPL-3.0-only"}
        assert named <= allowed, package


@pytest.mark.parametrize("name", LICENCES)
def test_a_licence_is_the_one_that_the_installed_package_states(name: str) -> None:
    try:
        stated = metadata.metadata(name).json.get("license_expression")
    except metadata.PackageNotFoundError:
        return  # for another system
    assert stated in (None, LICENCES[name])


def test_every_component_has_a_version_or_hashes_and_a_name_of_its_own() -> None:
    components = bill()["components"]
    names = [component["bom-ref"] for component in components]
    assert len(set(names)) == len(names)
    assert {"machine-learning-model", "data", "library"} == {c["type"] for c in components}
    for component in components:
        assert component["licenses"]
        assert component["hashes"]
        assert all(re.fullmatch("[0-9a-f]{64}", each["content"]) for each in component["hashes"])


def test_the_list_is_the_same_every_time() -> None:
    assert bill() == bill()
    assert not re.search("timestamp", str(bill()))


def test_the_page_of_licences_is_in_step_with_the_locks() -> None:
    assert (ROOT / "docs" / "licences.md").read_text("utf-8") == page()
