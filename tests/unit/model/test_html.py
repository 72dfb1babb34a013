"""What a notebook shows: the quote and the trace, and never somebody else's mark-up."""

from dataclasses import replace
from functools import cache

from abstrag.engine.searcher import Searcher
from abstrag.model.term import Licence, LicenceKind
from abstrag.search.relevance import FAST
from abstrag.workspace.tour import DEMO_QUERY, DEMO_SENTENCE, demo_index


@cache
def searcher() -> Searcher:
    return Searcher(demo_index(), preset=FAST)


def test_a_ranking_shows_quotes_bridges_and_costs() -> None:
    shown = searcher().search(DEMO_QUERY, k=2)._repr_html_()
    assert DEMO_SENTENCE.replace("'", "&#x27;") in shown
    assert "event:visit → event:collaboration 0.90" in shown


def test_text_from_a_document_is_never_mark_up() -> None:
    hit = searcher().search(DEMO_QUERY, k=1).hits[0]
    shown = replace(hit, text="<script>alert(1)</script>")._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


def test_a_row_is_shown_under_its_headers() -> None:
    hit = searcher().search(DEMO_QUERY, k=1).hits[0]
    assert "under" not in hit._repr_html_()
    shown = replace(hit, headers=("2019", "<b>Costs</b>"))._repr_html_()
    assert "under 2019 · &lt;b&gt;Costs&lt;/b&gt;<br>" in shown


def test_why_not_and_the_curve_show_themselves() -> None:
    answer = searcher().why_not(DEMO_QUERY, passage="Neither side said what was discussed", k=1)
    assert answer.cause.value in answer._repr_html_()
    assert "<polyline" in searcher().budget(DEMO_QUERY)._repr_html_()


def test_a_map_shows_what_is_stated_before_the_lexicon_with_price_and_licence() -> None:
    shown = demo_index().map._repr_html_()
    assert "Anthropic" in shown
    assert "<b>free</b>" in shown
    assert shown.index("background: chips.toml") < shown.index("lexicon: ")
    assert f"{len(demo_index().map.edges)} edges" in shown


def test_a_map_escapes_what_a_document_says() -> None:
    made = demo_index().map
    edge = replace(made.edges[0], licence=Licence(LicenceKind.TEXT, "<script>x</script>"))
    assert "<script>" not in replace(made, edges=(edge,))._repr_html_()
