"""The documents and queries of six domains are complete, and ask for what the texts hold."""

import tomllib
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "data" / "domains"
FILES = sorted(DATA.glob("*/*.toml"))
PHENOMENA = {
    "alias",
    "definition",
    "office",
    "event",
    "idiom",
    "relative date",
    "header date",
    "class",
}
DOMAINS = {"medicine", "law", "sports", "software", "geography", "school"}


def test_each_set_has_all_domains() -> None:
    folders = [path for path in DATA.iterdir() if path.is_dir()]
    assert folders
    for folder in folders:
        assert {path.stem for path in folder.glob("*.toml")} == DOMAINS


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_asks_once_for_each_phenomenon_and_for_what_its_text_says(path: Path) -> None:
    data = tomllib.loads(path.read_text("utf-8"))
    text = " ".join(data["text"].split())
    assert {query["phenomenon"] for query in data["queries"]} == PHENOMENA
    for query in data["queries"]:
        assert query["find"] in text
        assert query.get("also", "") in text
        assert set(query["asked"].split()) <= set(query["query"].replace("?", " ").split())
        assert query["family"]
