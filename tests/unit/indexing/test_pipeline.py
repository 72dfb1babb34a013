"""The whole chain on the bundled article, and what must hold of any index."""

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstrag.config import Settings
from abstrag.errors import InputError
from abstrag.indexing.operator import Chain, IndexDraft
from abstrag.indexing.pipeline import PARSES, canonical_texts, index, standard_chain
from abstrag.model.background import Background
from abstrag.model.document import Block, BlockKind, Document, Metadata, OffsetMap, Span
from abstrag.model.index import DocumentIndex
from abstrag.model.record import from_json, to_json
from abstrag.model.term import Edge, Family, LicenceKind, Relation
from abstrag.workspace.tour import demo_background, demo_document, demo_index

VISIT = "The CTO of Anthropic visited the head of TSMC's 3 nm fabrication division this Tuesday."


@cache
def demo() -> DocumentIndex:
    return demo_index()


def edge(source: str, target: str) -> Edge:
    labels = {t.id: t.label for t in demo().map.terms}
    for found in demo().map.edges:
        if labels[found.source] == source and labels[found.target] == target:
            return found
    raise AssertionError(f"no edge {source} → {target}")


def visit() -> int:
    return next(i for i, s in enumerate(demo().segments) if s.text == VISIT)


def test_the_alias_edges_of_the_example_are_free_and_licensed_by_the_text() -> None:
    alias = edge("AI startup", "Anthropic")
    assert (alias.family, alias.relation) == (Family.EXPRESSION, Relation.EQUIVALENT)
    assert (alias.cost, alias.licence.kind) == (0.0, LicenceKind.TEXT)
    assert alias.licence.span is not None
    assert "AI startup" in demo().document.quote(alias.licence.span)


def test_the_classes_of_the_background_are_premises() -> None:
    for name, group in (("Anthropic", "LLM company"), ("TSMC", "chip supplier")):
        found = edge(name, group)
        assert (found.relation, found.cost) == (Relation.IMPLIES, 0.0)
        assert found.licence.kind is LicenceKind.BACKGROUND
        assert found.licence.reference == f"chips.toml: classes.{name}"


def test_the_role_and_office_edges_of_the_example_are_there() -> None:
    role = edge("CTO", "executive")
    assert role.licence.kind is LicenceKind.BACKGROUND
    office = edge("CTO of Anthropic", "AI company representative")
    assert (office.family, office.truth_preserving) == (Family.INTENT, False)
    assert office.cost == pytest.approx(1.30)
    assert office.licence.span is not None
    assert demo().document.quote(office.licence.span) == "CTO of Anthropic"


def test_the_event_edges_of_the_example_are_paid_for() -> None:
    rule = edge("visit", "collaboration")
    assert rule.family is Family.EVENT
    assert rule.cost == pytest.approx(0.90)
    assert rule.licence.kind is LicenceKind.BACKGROUND
    artifact = edge("agreement", "collaboration")
    assert artifact.cost == pytest.approx(1.20)


def test_this_tuesday_is_the_tuesday_of_the_header_date() -> None:
    record = demo().records[visit()]
    assert "2024-05-14" in record.canonical
    (time,) = [t for t in demo().terms_in(visit(), 0, len(VISIT)) if t.startswith("time:")]
    assert time == "time:2024-05-14"
    (anchor,) = record.context.time
    assert anchor.value == "2024-05-15"
    assert anchor.span is not None
    assert demo().document.quote(anchor.span) == "2024-05-15"


def test_both_participants_of_the_visit_are_coerced_offices() -> None:
    (frame,) = [f for f in demo().frames if f.segment == visit() and f.event == "event:visit"]
    slots = {s.name: s for s in frame.slots}
    assert slots["who"].term == "entity:anthropic"
    assert slots["who"].coerced
    assert slots["whom"].term == "entity:tsmc"
    assert slots["whom"].coerced


def test_without_a_background_nothing_is_taken_from_it() -> None:
    bare, full = demo_index(with_background=False), demo()
    taken = [
        [e for e in index.map.edges if e.licence.kind is LicenceKind.BACKGROUND]
        for index in (bare, full)
    ]
    assert not taken[0]
    assert taken[1]


def test_every_span_quotes_the_source() -> None:
    document = demo().document
    for segment in demo().segments:
        for at, char in enumerate(segment.text):
            if not char.isspace() and char != "|":
                assert document.text[segment.alignment.at(at)] == char
                assert segment.span.start <= segment.alignment.at(at) < segment.span.end


def test_every_mention_and_slot_lies_in_its_segment() -> None:
    known = {t.id for t in demo().map.terms}
    for mention in demo().mentions:
        segment = demo().segments[mention.segment]
        text = segment.text if mention.header is None else segment.headers[mention.header].text
        assert 0 <= mention.start < mention.end <= len(text)
        assert mention.term in known
    for frame in demo().frames:
        text = demo().segments[frame.segment].text
        places = [(frame.start, frame.end), *((s.start, s.end) for s in frame.slots)]
        assert all(0 <= start < end <= len(text) for start, end in places)


def test_an_operator_that_is_not_conservative_never_changes_canonical_text() -> None:
    chain = standard_chain(demo_background())
    draft = IndexDraft(demo_document())
    before = None
    for op in chain.operators:
        draft = op(draft)
        after = canonical_texts(draft)
        assert op.conservative or after == before
        before = after


def test_indexing_twice_is_byte_identical() -> None:
    assert to_json(demo()) == to_json(demo_index())


def test_an_index_survives_the_trip_through_json() -> None:
    assert from_json(DocumentIndex, to_json(demo())) == demo()


class CardTable:
    """A cache that remembers what was asked of it."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str, str], bytes] = {}

    def get_layer(self, content_hash: str, layer: str, fingerprint: str) -> bytes | None:
        return self.kept.get((content_hash, layer, fingerprint))

    def put_layer(self, content_hash: str, layer: str, fingerprint: str, data: bytes) -> None:
        self.kept[content_hash, layer, fingerprint] = data


def test_a_changed_operator_re_runs_only_what_depends_on_it() -> None:
    shelf, ran = CardTable(), list[str]()
    full = demo_background()
    index(demo_document(), background=full, cache=shelf, on_step=ran.append)
    names = [op.name for op in standard_chain().operators]
    assert ran == names
    ran.clear()
    again = index(demo_document(), background=full, cache=shelf, on_step=ran.append)
    assert ran == ["build_map"]  # which is faster made than read
    assert to_json(again) == to_json(demo())
    ran.clear()
    fewer = Background(full.aliases, full.classes, full.roles, full.events[:1], name=full.name)
    changed = index(demo_document(), background=fewer, cache=shelf, on_step=ran.append)
    assert ran == names[names.index("abstract_events") :]
    assert to_json(changed) == to_json(index(demo_document(), background=fewer))


def test_what_an_operator_finds_again_re_runs_nothing_after_it() -> None:
    shelf, ran = CardTable(), list[str]()
    full = demo_background()
    index(demo_document(), background=full, cache=shelf)
    more = replace(full, aliases={**full.aliases, "Nobody here": ("Never named",)})
    made = index(demo_document(), background=more, cache=shelf, on_step=ran.append)
    assert ran == ["normalize_entities", "build_map"]
    assert to_json(made) == to_json(index(demo_document(), background=more))


def test_a_lost_parse_is_made_anew() -> None:
    shelf = CardTable()
    index(demo_document(), cache=shelf)
    shelf.kept = {place: data for place, data in shelf.kept.items() if place[1] != PARSES}
    made = index(demo_document(), background=demo_background(), cache=shelf)
    assert to_json(made) == to_json(demo())


def test_an_unknown_genre_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="no genre is called 'poem'"):
        index(demo_document(), settings=Settings(genre="poem"))


SENTENCES = st.lists(
    st.sampled_from(
        [
            "The company (TSMC) grew by 12% in 2023.",
            "It may fall next year.",
            "Dr. Jane Miller met the head of Acme Corp. yesterday.",
            "She said that animals such as ducks and geese swim.",
            "不明 Ünïcödé — “quotes” & <tags>.",
            "...",
            "a",
            "Results: 3.5 mg vs. 4 mg (p < 0.05) [12].",
        ]
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=15, deadline=None)
@given(st.lists(SENTENCES, min_size=1, max_size=3), st.sampled_from([None, "2024-05-15"]))
def test_any_document_keeps_the_laws_of_an_index(pars: list[list[str]], date: str | None) -> None:
    blocks, text = [], ""
    for sentences in pars:
        piece = " ".join(sentences)
        span = Span(len(text), len(text) + len(piece))
        blocks.append(Block(BlockKind.PARAGRAPH, piece, span, OffsetMap(((0, span.start),))))
        text += piece + "\n\n"
    document = Document("d", "", text, tuple(blocks), Metadata(date=date))
    made = index(document, settings=Settings(granularity="sentence"))
    assert to_json(made) == to_json(index(document, settings=Settings(granularity="sentence")))
    for segment in made.segments:
        assert document.quote(segment.span) == segment.text
    for found in made.map.edges:
        assert found.truth_preserving or found.cost > 0
        if found.relation is Relation.EQUIVALENT:
            assert found.truth_preserving
    assert [s.span.start for s in made.segments] == sorted(s.span.start for s in made.segments)


def test_a_chain_may_stop_early() -> None:
    operators = standard_chain().operators
    draft = Chain(*operators[:4])(IndexDraft(demo_document()))
    assert draft.times is not None
    assert draft.contexts is None
