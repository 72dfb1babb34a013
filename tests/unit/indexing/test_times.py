from dataclasses import replace

import pytest

from abstrag.errors import InputError
from abstrag.indexing.layers import Entities, Rewrite, TimeLayer, TimeMention
from abstrag.indexing.operator import IndexDraft
from abstrag.indexing.pipeline import canonical_texts
from abstrag.indexing.times import NormalizeTimes
from abstrag.model.document import Quote, Span
from abstrag.model.index import Ambiguity
from abstrag.model.record import from_json, to_json
from abstrag.model.term import Interval, Mention, TermKind
from tests.unit.indexing.drafts import draft_of

EXAMPLE = "The CTO of Anthropic visited the head of TSMC's 3 nm fabrication division this Tuesday."


def draft(*texts: str, date: str | None = "2024-05-15") -> IndexDraft:
    return draft_of(*texts, date=date).with_(entities=Entities((), (), (), (), ()))


def with_headers(made: IndexDraft, *headers: str) -> IndexDraft:
    assert made.segmented is not None
    quotes = tuple(Quote(header, Span(0, 0)) for header in headers)
    segments = tuple(replace(s, headers=quotes) for s in made.segments)
    return made.with_(segmented=replace(made.segmented, segments=segments))


def times(made: IndexDraft, operator: NormalizeTimes | None = None) -> TimeLayer:
    layer = (operator or NormalizeTimes())(made).times
    assert layer is not None
    return layer


def test_this_tuesday_becomes_the_tuesday_of_the_documents_week() -> None:
    found = times(draft(EXAMPLE))
    start = EXAMPLE.index("this Tuesday")
    day = Interval("2024-05-14", "2024-05-14")
    assert found.anchor == "2024-05-15"
    assert found.expressions == (TimeMention(0, start, start + 12, day, True),)
    assert found.mentions == (Mention("time:2024-05-14", 0, start, start + 12),)
    (term,) = found.terms
    assert (term.kind, term.label, term.interval) == (TermKind.TIME, "14 May 2024", day)
    assert term.surfaces == ("this Tuesday",)
    assert found.ambiguities == ()


def test_canonical_text_reads_the_date_in_place() -> None:
    made = NormalizeTimes()(draft(EXAMPLE))
    assert canonical_texts(made) == (EXAMPLE.replace("this Tuesday", "2024-05-14"),)


def test_without_a_date_the_expression_is_an_ambiguity() -> None:
    found = times(draft(EXAMPLE, date=None))
    start = EXAMPLE.index("this Tuesday")
    assert found.anchor is None
    assert (*found.terms, *found.mentions, *found.rewrites) == ()
    assert found.expressions == (TimeMention(0, start, start + 12, None, True),)
    assert found.ambiguities == (Ambiguity(0, start, start + 12, "no anchor"),)


def test_spellings_of_one_day_become_one_term_and_one_text() -> None:
    made = NormalizeTimes()(draft("It began on May 15, 2024.", "It began on 15 May 2024."))
    assert made.times is not None
    (term,) = made.times.terms
    assert term.id == "time:2024-05-15"
    assert term.surfaces == ("15 May 2024", "May 15, 2024")
    assert canonical_texts(made) == ("It began on 2024-05-15.",) * 2


def test_a_longer_time_has_both_ends_in_its_id() -> None:
    found = times(draft("It grew last year and since 2015."))
    assert [t.id for t in found.terms] == [
        "time:2015-01-01/9999-12-31",
        "time:2023-01-01/2023-12-31",
    ]
    assert [t.label for t in found.terms] == ["since 2015", "2023"]
    assert [r.text for r in found.rewrites] == ["2023", "2015/.."]


def test_what_is_canonical_already_is_not_rewritten() -> None:
    found = times(draft("It grew in 2023."))
    assert len(found.mentions) == 1
    assert found.rewrites == ()


def test_headers_are_read_but_never_rewritten() -> None:
    found = times(with_headers(draft("Sales fell last year."), "Segment", "Q1 2015", "last month"))
    assert [(m.header, m.term) for m in found.mentions] == [
        (None, "time:2023-01-01/2023-12-31"),
        (1, "time:2015-01-01/2015-03-31"),
        (2, "time:2024-04-01/2024-04-30"),
    ]
    assert found.rewrites == (Rewrite(0, 11, 20, "2023"),)


def test_an_open_expression_in_a_header_is_no_ambiguity_of_the_text() -> None:
    found = times(with_headers(draft("Sales fell."), "Year ended May 31,"))
    assert [(e.header, e.interval) for e in found.expressions] == [(0, None)]
    assert found.ambiguities == ()


def test_terms_and_mentions_are_sorted() -> None:
    found = times(with_headers(draft("In 2020, not in 2019.", "It was in 2018."), "2021"))
    assert [t.label for t in found.terms] == ["2018", "2019", "2020", "2021"]
    places = [(m.segment, -1 if m.header is None else m.header, m.start) for m in found.mentions]
    assert places == sorted(places)


def test_a_weekday_inside_a_name_is_no_day() -> None:
    text = "Ruby Tuesday opened on Tuesday."
    name = Mention("entity:ruby tuesday", 0, 0, len("Ruby Tuesday"))
    assert [e.start for e in times(draft(text)).expressions] == [5, 23]
    named = draft(text).with_(entities=Entities((), (name,), (), (), ()))
    assert [e.start for e in times(named).expressions] == [23]


def test_the_users_anchors_are_expressions_too() -> None:
    operator = NormalizeTimes((("the merger", "2019-03-01"),))
    found = times(draft("Since the merger, costs fell."), operator)
    assert [t.id for t in found.terms] == ["time:2019-03-01/9999-12-31"]


def test_fiscal_years_begin_as_the_document_says() -> None:
    stated = "This report is for the fiscal year ended May 31, 2021."
    found = times(draft(stated, "Revenue grew in fiscal 2020."))
    assert [t.id for t in found.terms] == [
        "time:2019-06-01/2020-05-31",
        "time:2020-06-01/2021-05-31",
    ]


def test_a_given_start_of_the_fiscal_year_wins() -> None:
    stated = "This report is for the fiscal year ended May 31, 2021."
    found = times(draft(stated, "Revenue grew in fiscal 2020."), NormalizeTimes((), 10))
    assert "time:2019-10-01/2020-09-30" in [t.id for t in found.terms]


def test_a_document_date_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="'last spring'"):
        times(draft("It grew in 2023.", date="last spring"))


def test_a_document_date_may_have_a_time_of_day() -> None:
    assert times(draft("It rose.", date="2024-05-15T08:00:00Z")).anchor == "2024-05-15"


def test_the_layer_survives_the_store_and_is_the_same_every_time() -> None:
    made = with_headers(draft(EXAMPLE, "Sales fell in May and two years later."), "Q1 2015")
    written = to_json(times(made))
    assert from_json(TimeLayer, written) == times(made)
    assert to_json(times(made)) == written


def test_the_settings_are_the_fingerprint() -> None:
    one, other = NormalizeTimes(), NormalizeTimes()  # both alive, so at two addresses
    assert repr(one) == repr(other)
    assert repr(NormalizeTimes((("x", "2019"),))) != repr(NormalizeTimes())
