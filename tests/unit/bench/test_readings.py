"""Hidden words, false claims that nothing meets a condition, and swapped queries."""

from dataclasses import replace

import pytest

from abstrag.testing.sample_index import sample_index
from abstrag_bench.baselines.system import Element, ElementKind, Pool
from abstrag_bench.case import Case
from tools.hidden_words import (
    TEXT,
    WordPlace,
    content_places,
    hidden_canonical,
    hiding,
    keeping,
)
from tools.readings import _WORD, _in_a_row, _stands, said_unmet
from tools.swapped import swapped_cases


def test_a_hidden_word_is_gone_from_the_text_with_what_stands_on_it() -> None:
    index = sample_index()
    mention = next(m for m in index.mentions if m.segment == 0 and m.header is None)
    hidden = hiding(index, 0, [WordPlace(TEXT, mention.start, mention.end)])
    word = index.segments[0].text[mention.start : mention.end]
    assert word not in hidden.segments[0].text
    assert "[MASK]" in hidden.segments[0].text
    assert mention not in hidden.mentions
    assert hidden.records[1] is index.records[1]


def test_what_stands_behind_a_hidden_word_keeps_its_place() -> None:
    index = sample_index()
    first = next(p for p in content_places(index.segments[0]) if p.part == TEXT)
    hidden = hiding(index, 0, [first])
    before, after = index.segments[0].text, hidden.segments[0].text
    left = [m for m in index.mentions if m.segment == 0 and m.start >= first.end]
    moved = [m for m in hidden.mentions if m.segment == 0]
    assert [before[m.start : m.end] for m in left] == [after[m.start : m.end] for m in moved]


def test_a_passage_can_be_kept_as_nothing_but_its_named_words() -> None:
    index = sample_index()
    some = [place for place in content_places(index.segments[0]) if place.part == TEXT][:2]
    kept = keeping(index, 0, some)
    text = index.segments[0].text
    assert kept.segments[0].text == " ".join(text[p.start : p.end] for p in some)


@pytest.mark.parametrize(
    ("canonical", "expected"),
    [
        ("He met Anna on 14 May", "He met [MASK] on 14 May"),
        ("Rolf Meier met Anna on 2024-05-14", "Rolf Meier met [MASK] on 2024-05-14"),
        ("He met Anna Keller on 14 May", "He met [MASK] Keller on 14 May"),
    ],
)
def test_a_hidden_word_is_hidden_in_the_canonical_text_too(canonical: str, expected: str) -> None:
    place = WordPlace(TEXT, 7, 11)
    assert hidden_canonical("He met Anna on 14 May", canonical, [place]) == expected


def test_a_code_is_one_word_and_a_name_stands_in_a_row() -> None:
    text = "H3K9me3 was lost. The share price has no performance conditions and no plan."
    row = [word.casefold() for word in _WORD.findall(text)]
    assert not _stands("H3K9", row)
    assert _stands("prices", row)
    assert not _stands("talented", ["talent"])
    assert not _stands("ad", ["a"])
    assert _stands("closed", ["closes"])
    assert not _in_a_row("Performance Share Plan", row)
    assert _in_a_row("share prices", row)


def test_what_a_reading_says_is_not_met_is_read_off_its_words() -> None:
    reading = "It says “a”; nothing in it meets “solar panel”, “x” (nearest: “z”) or “y”. Gap 2.00."
    assert said_unmet(reading) == ["solar panel", "x", "y"]
    assert said_unmet("Nothing in it meets “x y” (nearest to “x”: “z”). Gap 4.00.") == ["x y"]
    assert said_unmet("Of “b c” it says “b”, but nothing meets “c”.") == ["c"]


def test_swapped_queries_are_the_same_every_time_and_name_what_the_document_lacks() -> None:
    pool = Pool(
        "p", "Sales", (Element("a", "Sales rose to 1,250 in Basel.", ElementKind.SENTENCE),)
    )
    other = replace(pool, id="q", elements=(Element("b", "Zurich shrank.", ElementKind.SENTENCE),))
    cases = [
        Case("plain", "all", "1", pool, "Did sales rise in Basel to 1,250?", ("a",)),
        Case("plain", "all", "2", other, "Did the city of Zurich shrink in 2019?", ("b",)),
    ]
    made = swapped_cases(cases, 2, seed=1)
    assert made == swapped_cases(cases, 2, seed=1)
    assert made
    for one in made:
        assert one.now in one.query
        assert one.was not in one.query
        assert all(one.now not in element.text for element in one.case.document.elements)
