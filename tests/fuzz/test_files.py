"""A bounded share of the hunt for files and queries that break a parser."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.crafted.every import FAMILIES, crafted
from tests.fuzz.hunt import StageCounts, corpus, mutants, run
from tests.fuzz.mutate import mutant
from tests.fuzz.targets import TARGETS, Item, Trial

REGRESSIONS = Path(__file__).parent / "regressions"
TEXTS = ("txt", "md", "html", "tex", "csv", "json", "eml", "mbox")
MUTANTS = 96
CRAFTED = 24

characters = st.text(
    st.one_of(
        st.sampled_from("aA1 .,;:!?'\"“”()[]{}<>|\\/$%&#*_-–\n\t\r\u00ad\u200b\u0301\U0001f600"),
        st.characters(),
    ),
    max_size=300,
)


@pytest.mark.parametrize("path", sorted(REGRESSIONS.iterdir()), ids=lambda path: path.name)
def test_what_was_found_once_is_mended(path: Path) -> None:
    tried = Trial(budget=None).try_out(Item(path.name, "", "index", {path.name: path.read_bytes()}))
    assert tried.outcome in ("read", "refused"), tried.detail


def test_no_mutant_of_the_corpus_breaks_a_parser(tmp_path: Path) -> None:
    tally = StageCounts(tmp_path)
    run(islice(mutants(), MUTANTS), tally, workers=2)
    assert tally.found == []
    assert sum(counted.total() for counted in tally.outcomes.values()) == MUTANTS
    assert set(tally.outcomes) == {*corpus(), "query"}, "every format has a share"


def test_no_crafted_file_of_the_smallest_size_breaks_a_parser(tmp_path: Path) -> None:
    tally = StageCounts(tmp_path)
    smallest = [replace(family, sizes=family.sizes[:1]) for family in FAMILIES]
    run(crafted(smallest[:: len(smallest) // CRAFTED]), tally, workers=2)
    assert tally.found == []
    assert sum(counted.total() for counted in tally.outcomes.values()) >= CRAFTED


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=characters, kind=st.sampled_from(TEXTS))
def test_any_text_is_read_or_refused_in_any_format_of_text(text: str, kind: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    tried = Trial(budget=None).try_out(Item("made", kind, "read", {f"made.{kind}": data}))
    assert tried.outcome in ("read", "refused"), tried.detail


@settings(max_examples=120, deadline=None)
@given(text=characters)
def test_any_text_is_a_query_or_refused(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    tried = Trial(budget=None).try_out(Item("made", "query", "query", {"query": data}))
    assert tried.outcome in ("read", "refused"), tried.detail


def test_the_same_seed_gives_the_same_mutant_and_another_one_another() -> None:
    for kind, files in corpus().items():
        name, data = files[0]
        made = [mutant(data, kind, seed) for seed in range(20)]
        assert made == [mutant(data, kind, seed) for seed in range(20)], name
        assert len(set(made)) > 10, name


def test_an_unsound_reading_is_a_find(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_files: object) -> None:
        raise KeyError("nobody foresaw this")

    for name in ("read", "query"):
        monkeypatch.setitem(TARGETS, name, broken)
        tried = Trial(budget=None).try_out(Item("made", "txt", name, {"made.txt": b"a"}))
        assert tried.outcome == "find"
        assert "KeyError" in tried.detail
