"""Alignment: prices of words, what meets what, and lines that add up to the score."""

from collections.abc import Sequence
from dataclasses import replace
from math import exp

import numpy as np
import pytest

from abstrag.config import MAX_GAP, OMEGA
from abstrag.documents.load import load_bytes
from abstrag.engine.searcher import Searcher
from abstrag.indexing.pipeline import index
from abstrag.model.document import Document
from abstrag.model.query import Query
from abstrag.model.ranking import Hit
from abstrag.model.segment import Segment
from abstrag.model.term import Family
from abstrag.neural.aligner import Aligner
from abstrag.neural.bundle import Aligning
from abstrag.neural.vectors import AlignedText
from abstrag.search.document_words import DocumentWords, forms
from abstrag.search.families import step_family
from abstrag.search.relevance import ALIGNED, GENERAL, Preset


def document_of(text: str) -> Document:
    return load_bytes(text.encode(), name="text.md")


CONSTANTS = Aligning(10.0, 8.0, 10.0, 8.0, 0.25, 8.0, 1.0, 4)
# words of one row point the same way; all others are at right angles
MEANINGS = (("cancel", "terminate", "ended", "undo"), ("chip", "chips"), ("fell", "decline"))


class HandMade:
    """Gives every word a vector by its meaning, and every text the same gist."""

    fingerprint = "hand-made"
    constants = CONSTANTS

    def read(self, texts: Sequence[str]) -> list[AlignedText]:
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> AlignedText:
        spans, at = [], 0
        for word in text.split():
            bare = word.strip(".,?:")
            start = text.index(bare, at)
            at = start + len(bare)
            if len(bare) > 2 and bare.lower() not in ("the", "any", "may", "has", "was"):
                spans.append((start, at))
        vectors = np.zeros((len(spans), 512), np.float32)
        for row, (start, end) in enumerate(spans):
            word = text[start:end].lower()
            group = next((g for g, some in enumerate(MEANINGS) if word in some), None)
            place = group if group is not None else 8 + sum(map(ord, word)) % 500
            vectors[row, place] = 1.0
        weights = np.full(len(spans), 1 / max(len(spans), 1), np.float32)
        return AlignedText(
            np.array(spans, np.int32).reshape(-1, 2),
            vectors,
            weights,
            np.array([1, 0, 0, 0], np.float32),
        )


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> Searcher:
    monkeypatch.setattr("abstrag.engine.searcher.default_aligner", HandMade)
    text = (
        "Either party may terminate the contract in 2018. The harbour was dredged in 2019. "
        "Sales fell by 40 tons. The supplier has two lawyers."
    )
    return Searcher(index(document_of(text)), preset=ALIGNED)


def hits(searcher: Searcher, query: str) -> tuple[Hit, ...]:
    return searcher.search(query, k=10, fill=True).hits


def test_a_word_of_the_same_meaning_meets_a_word_and_the_trace_names_both(
    searched: Searcher,
) -> None:
    first = hits(searched, "Can a party cancel the contract?")[0]
    assert "terminate" in first.quote
    met = {word.asked: word for word in first.words}
    assert met["cancel"].said == "terminate"
    assert met["cancel"].met
    assert 0 < met["cancel"].price <= CONSTANTS.limit
    assert first.text[met["cancel"].said_start : met["cancel"].said_end] == "terminate"
    assert met["party"].price == 0
    assert met["party"].family is None


def test_the_lines_of_a_hit_add_up_to_its_score(searched: Searcher) -> None:
    for hit in hits(searched, "Can a party cancel the contract?"):
        assert sum(word.units for word in hit.words) == hit.lines[0].units
        total = sum(line.units for line in hit.lines)
        assert hit.relevance == pytest.approx(exp(-total / 10_000), abs=1e-15)


def test_a_number_is_met_by_itself_alone(searched: Searcher) -> None:
    by_quote = {hit.quote: hit for hit in hits(searched, "What was dredged in 2018?")}
    dredged = next(hit for quote, hit in by_quote.items() if "dredged" in quote)
    year = next(word for word in dredged.words if word.asked == "2018")
    assert year.price == MAX_GAP
    assert not year.met
    assert year.said == ""


def test_an_inflection_is_the_same_word() -> None:
    assert set(forms("fell")) & set(forms("fall"))
    assert set(forms("terminates")) & set(forms("terminate"))
    assert not set(forms("terminal")) & set(forms("terrain"))


def test_without_links_a_word_is_met_by_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("abstrag.engine.searcher.default_aligner", HandMade)
    made = index(document_of("Either party may terminate the contract."))
    without = Searcher(made, preset=ALIGNED, without=frozenset({"align_words"}))
    (hit,) = without.search("Can a party cancel the contract?", k=1, fill=True).hits
    prices = {word.asked: word.price for word in hit.words}
    assert prices["cancel"] == MAX_GAP
    assert prices["contract"] == 0


def test_meeting_everything_beats_meeting_nothing_at_equal_utility(searched: Searcher) -> None:
    found = hits(searched, "Sales fell by 40 tons.")
    assert found[0].quote.startswith("Sales fell")
    assert all(word.price == 0 for word in found[0].words)
    others = [hit for hit in found[1:] if not any(word.met for word in hit.words)]
    assert others
    assert all(found[0].relevance > hit.relevance for hit in others)


def cost_at_equal_utility(hit: Hit) -> int:
    return sum(line.units for line in hit.lines if line.name != "utility")


def test_words_that_only_ask_are_no_conditions(searched: Searcher) -> None:
    (first, *_) = hits(searched, "How much did sales decline?")
    assert not {word.asked for word in first.words} & {"How", "much"}


@pytest.mark.parametrize("preset", [ALIGNED, GENERAL, replace(GENERAL, gap_rate=0.0)])
def test_no_judge_puts_what_meets_nothing_above_what_meets_everything_for_free(
    searched: Searcher, preset: Preset
) -> None:
    def contrary(query: Query, segments: Sequence[Segment]) -> list[float]:
        return [0.0 if "Sales" in segment.text else 1.0 for segment in segments]

    judge = contrary if preset.judge_weight else None
    searcher = Searcher(searched.index, preset=preset, judge=judge)
    found = hits(searcher, "Sales fell by 40 tons.")
    (free,) = [hit for hit in found if hit.quote.startswith("Sales")]
    nothing = [hit for hit in found if not hit.trace.share and not any(w.met for w in hit.words)]
    assert free.trace.gap == 0
    assert nothing
    for hit in nothing:
        assert cost_at_equal_utility(free) < cost_at_equal_utility(hit)
    for hit in found:
        total = sum(line.units for line in hit.lines)
        assert hit.relevance == pytest.approx(exp(-total / 10_000), abs=1e-15)


def test_of_a_word_that_is_said_twice_the_place_that_suits_better_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class InContext(HandMade):
        """Turns the vector of the first "sales" of a text away from what is asked."""

        def _one(self, text: str) -> AlignedText:
            read = super()._one(text)
            rows = [i for i, (a, b) in enumerate(read.spans.tolist()) if text[a:b] == "sales"]
            if len(rows) > 1:
                read.vectors[rows[0]] *= 0.8
                read.vectors[rows[0], 511] = 0.6
            return read

    monkeypatch.setattr("abstrag.engine.searcher.default_aligner", InContext)
    text = "The sales office is shut and sales rose."
    (hit,) = hits(Searcher(index(document_of(text)), preset=ALIGNED), "How did sales develop?")
    (word,) = [one for one in hit.words if one.asked == "sales"]
    assert word.price == 0
    assert word.said_start == text.rindex("sales")


@pytest.mark.parametrize(
    ("asked", "said", "family"),
    [
        ("cancel", "call off", "expression"),
        ("quit", "resign", "expression"),
        ("car", "automobile", "expression"),
        ("vehicle", "car", "concept"),
        ("river", "lawyer", "related"),
    ],
)
def test_wordnet_names_the_family_of_a_step(asked: str, said: str, family: str) -> None:
    assert step_family(asked, said) == family


def test_the_same_form_in_another_sense_is_not_free() -> None:
    far = replace(CONSTANTS, word_offset=20.0)  # under these prices no two vectors are near

    class Distant(HandMade):
        constants = far

    words = DocumentWords(index(document_of("The chips are salted.")).segments, Distant())
    assert words.same("chip").any()
    assert OMEGA["related"] == max(OMEGA.values())
    assert step_family("chip", "chips", same=True) == Family.RELATED


def test_a_code_is_the_same_however_far_its_vectors_are(monkeypatch: pytest.MonkeyPatch) -> None:
    far = replace(CONSTANTS, word_offset=20.0)

    class Distant(HandMade):
        constants = far

    monkeypatch.setattr("abstrag.engine.searcher.default_aligner", Distant)
    searcher = Searcher(index(document_of("Cells with RANKL carry salted chips.")), preset=ALIGNED)
    (hit,) = hits(searcher, "Which chips are in RANKL?")
    prices = {word.asked: word.price for word in hit.words}
    assert prices["RANKL"] == 0.0
    assert prices["chips"] == MAX_GAP


def test_what_is_kept_of_a_text_is_what_was_read() -> None:
    (read,) = HandMade().read(["Either party may terminate the contract."])
    back = AlignedText.from_bytes(read.to_bytes())
    assert (back.vectors == read.vectors).all()
    assert (back.spans == read.spans).all()
    assert (back.gist == read.gist).all()
    assert (back.weights == read.weights).all()
    with pytest.raises(ValueError, match="bytes"):
        AlignedText.from_bytes(read.to_bytes() + b"x")


def test_the_shipped_aligner_reads_each_text_by_itself() -> None:
    aligner = Aligner.load()
    texts = ["Did sales decline?", "Revenue fell by 1,250.5 million.", ""]
    together = aligner.read(texts)
    for text, one in zip(texts, together, strict=True):
        (alone,) = aligner.read([text])
        assert alone.to_bytes() == one.to_bytes()
    words = [texts[1][start:end] for start, end in together[1].spans.tolist()]
    assert words == ["Revenue", "fell", "1,250.5", "million"]
    assert len(together[2]) == 0


def test_why_not_names_the_word_in_the_way_and_the_nearest_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Nearer(HandMade):
        constants = replace(CONSTANTS, word_offset=3.0)  # all words are something to each other

    monkeypatch.setattr("abstrag.engine.searcher.default_aligner", Nearer)
    made = index(document_of("The harbour was dredged. The supplier has two lawyers."))
    searcher = Searcher(made, preset=ALIGNED)
    found = searcher.why_not("Who repaired the harbour?", passage="The supplier has two", k=1)
    assert found.detail.endswith("; nearest to “repaired” is “supplier”, at 3.05")
    number = searcher.why_not("What has 300 tons?", passage="The harbour was dredged", k=1)
    assert "nearest to “300" not in number.detail  # nothing is near a number but itself


def test_the_curve_of_budgets_counts_learned_ways(searched: Searcher) -> None:
    entries = searched.budget("Can a party undo the contract?").entries
    assert entries
    assert entries[0].tau >= OMEGA["expression"]


def test_a_word_of_the_canonical_text_is_met_where_another_stands_for_it() -> None:
    segments = index(document_of("It restarted.")).segments
    words = DocumentWords(segments, HandMade(), ["The reactor restarted."])
    (at,) = np.flatnonzero(words.same("reactor"))
    assert words.rewritten[at]
    assert words.place(0, int(at)).text == "It"
    assert not DocumentWords(segments, HandMade()).same("reactor").any()


def test_a_code_is_met_however_it_is_spaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("abstrag.engine.searcher.default_aligner", HandMade)
    searcher = Searcher(index(document_of("Cells of NIH3T3 divide daily.")), preset=ALIGNED)
    words = {word.asked: word for word in hits(searcher, "Which NIH 3T3 cells divide?")[0].words}
    assert words["NIH"].said == words["3T3"].said == "NIH3T3"
    assert words["NIH"].met
    assert words["3T3"].price == 0.0


def test_the_number_of_a_note_is_no_part_of_a_word() -> None:
    assert set(forms("dividends1")) & set(forms("dividend"))
    assert not set(forms("BRCA1")) & set(forms("BRCA"))
    assert set(forms("receivables")) & set(forms("receivable"))
