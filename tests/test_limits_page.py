"""docs/limits.md lists every limit of a document with the value it has."""

import re
from pathlib import Path

from abstrag import config

PAGE = Path(__file__).parent.parent / "docs" / "limits.md"
ROW = re.compile(
    r"^\| `(?P<name>\w+)` \| (?P<value>[^|]+) \| (?P<what>[^|]+) \| (?P<then>[^|]+) \|$"
)
OF_A_QUERY = {"MAX_GAP", "MAX_LITERALS"}


def written(name: str) -> str:
    value = getattr(config, name)
    return f"{value // 2**20:,} MB" if name.endswith("_BYTES") else f"{value:,}"


def test_the_page_lists_every_limit_in_the_order_of_the_config_with_its_value() -> None:
    rows = [match for line in PAGE.read_text().splitlines() if (match := ROW.match(line))]
    limits = [n for n in vars(config) if n.startswith("MAX_") and n not in OF_A_QUERY]
    assert [(row["name"], row["value"]) for row in rows] == [(n, written(n)) for n in limits]
    assert all(row["what"].strip() and row["then"].strip() for row in rows)


def test_every_limit_has_a_comment_that_says_what_it_counts() -> None:
    source = Path(config.__file__).read_text()
    section = source.split("# --- Limits of one document")[1].split("@dataclass")[0]
    lines = [line for line in section.splitlines() if line.startswith("MAX_")]
    assert lines
    assert [line for line in lines if "  # " not in line] == []
