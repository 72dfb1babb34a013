"""The best documents are looked at again: by their sentences, and once open by their words."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from abstrag.collection import second_look as second_look_module
from abstrag.collection.card_table import CardsForQuestion, CardTable, ShortlistSource
from abstrag.collection.cards import all_cards, windows
from abstrag.collection.filters import Filters
from abstrag.collection.results import CollectionRanking
from abstrag.collection.second_look import second_look, third_look
from abstrag.collection.sentences import (
    MOST,
    STEMS,
    VECTORS,
    SentenceReader,
    SentenceStems,
    sentences,
)
from abstrag.collection.shortlist import WEIGHTS, Shortlist
from abstrag.collection.why_not import SoughtPassage, why_not
from abstrag.config import MAX_GAP
from abstrag.errors import StoreCorrupt
from abstrag.model.index import DocumentIndex
from abstrag.model.segment import Granularity
from abstrag.neural.aligner import Aligner
from abstrag.neural.runtime import segment_text
from abstrag.neural.vectors import AlignedText
from abstrag.neural.whole_text import WholeTextEncoder
from abstrag.search import document_words
from abstrag.search.lexical import words
from abstrag.search.relevance import ALIGNED, FAST
from abstrag.stores.cards import QuantizedVectors
from abstrag.stores.open import open_store
from abstrag.stores.protocol import Store
from abstrag.stores.sqlite import SqliteStore
from tests.unit.collection.small_library import (
    TEXTS,
    Topics,
    fill,
    indexed,
    indexes,
    put,
    searcher,
)

QUERY = "Do hounds visit the lock when vessels pass it, and Mercury poison the harbour?"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "library.db") as opened:
        yield opened


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at two documents only, or as many as are opened."""
    monkeypatch.setattr(second_look_module, "LOOKED_AT", 2)


def looks(
    store: Store, text: str, filters: Filters | None = None, *, size: int = 1, blind: bool = False
) -> tuple[Shortlist, Shortlist]:
    """Return a shortlist before and after the second look."""
    encoder = None if blind else Topics()
    card_table = CardTable.of(all_cards(store, encoder=encoder))
    first = Shortlist.of(card_table, text, encoder=encoder, filters=filters or Filters(), size=size)
    return first, second_look(first, SentenceReader(store, encoder))


def row_of(listed: Shortlist, name: str) -> int:
    return [info.id for info in listed.cards.documents].index(name)


def standing(listed: Shortlist, name: str) -> dict[ShortlistSource, float]:
    return {each.source: each.score for each in listed.standings(row_of(listed, name))}


def cover(card_table: CardsForQuestion, text: str, name: str) -> float:
    """The share of a query's words in one sentence and the title, the long way round."""
    index = indexes()[name]
    holders = {
        stem: sum(
            stem in words(" ".join([other.document.title, *(s.text for s in other.segments)]))
            for other in indexes().values()
        )
        for stem in words(text)
    }
    worth = {stem: card_table.idf(count) for stem, count in holders.items()}
    title = set(words(index.document.title))
    best = max(
        sum(worth[stem] for stem in worth if stem in title | set(words(segment.text)))
        for segment in index.segments
    )
    return best / sum(worth.values())


def closest(text: str, name: str) -> float:
    encoder = Topics()
    (asked,) = encoder.embed([text])
    return float((encoder.embed([s.text for s in indexes()[name].segments]) @ asked).max())


def test_the_further_sources_are_what_they_say(store: Store) -> None:
    _, second = looks(fill(store), QUERY)
    for row in second.order.tolist():
        name = second.cards.documents[row].id
        found = standing(second, name)
        assert set(found) == set(ShortlistSource) - {ShortlistSource.ALIGNMENT}  # none is open
        assert found[ShortlistSource.COVER] == pytest.approx(
            cover(second.cards, QUERY, name), abs=1e-5
        )
        assert found[ShortlistSource.SENTENCES] == pytest.approx(closest(QUERY, name), abs=0.01)


def test_the_prior_is_the_weighted_mean_of_five_sources_and_orders(store: Store) -> None:
    first, second = looks(fill(store), QUERY)
    top = max(standing(second, info.id)[ShortlistSource.WORDS] for info in first.cards.documents)
    for row in second.order.tolist():
        found = standing(second, second.cards.documents[row].id)
        found[ShortlistSource.WORDS] /= top
        mean = sum(WEIGHTS[s] * found[s] for s in found) / sum(WEIGHTS[s] for s in found)
        assert second.prior[row] == pytest.approx(mean, rel=1e-5)
    priors = second.prior[second.order].tolist()
    assert priors == sorted(priors, reverse=True)
    assert sorted(first.order) == sorted(second.order)


SCATTERED = "# Boats\n\nBoats wait. The lock is new. Cargo is heavy. Dawn is early.\n"
TOGETHER = "# Ships\n\nCargo waits at the lock until dawn. Crews sleep. Rain falls. Birds sing.\n"


def test_words_in_one_sentence_are_worth_more_than_scattered_ones(store: Store) -> None:
    for name, text in (("scattered", SCATTERED), ("together", TOGETHER)):
        put(store, indexed(name, text), f"/library/{name}.md")
    _, second = looks(store, "cargo at the lock at dawn", blind=True)
    assert second.cards.documents[second.rows[0]].id == "together"
    ours, theirs = standing(second, "together"), standing(second, "scattered")
    assert ours[ShortlistSource.COVER] == pytest.approx(1.0)
    assert theirs[ShortlistSource.COVER] < 0.5


def test_documents_further_behind_are_left_as_they_are(store: Store, few: None) -> None:
    first, second = looks(fill(store), QUERY)
    assert len(first.order) > 2
    assert second.order[2:].tolist() == first.order[2:].tolist()
    assert set(second.order[:2]) == set(first.order[:2])
    behind = first.order[2:]
    assert (second.prior[behind] == first.prior[behind]).all()
    assert len(second.standings(int(behind[0]))) == 3
    assert len(second.standings(int(second.order[0]))) == 5


def test_whatever_is_opened_is_looked_at(store: Store, few: None) -> None:
    _, second = looks(fill(store), QUERY, size=4)
    assert [len(second.standings(row)) for row in second.order.tolist()[:5]] == [5, 5, 5, 5, 3]


def test_without_embeddings_only_words_are_looked_at(store: Store) -> None:
    first, second = looks(fill(store), QUERY, blind=True)
    assert list(second.scores) == [
        ShortlistSource.WORDS,
        ShortlistSource.TERMS,
        ShortlistSource.COVER,
    ]
    assert list(store.layers_named(VECTORS)) == []
    row = int(first.order[0])
    mean = (1.5 * first.prior[row] + 0.6 * second.scores[ShortlistSource.COVER][row]) / 2.1
    assert second.prior[row] == pytest.approx(mean, rel=1e-5)


def test_a_filter_changes_no_score_of_those_looked_at(store: Store) -> None:
    _, whole = looks(fill(store), QUERY)
    _, part = looks(store, QUERY, Filters(since="2019"))
    assert len(part.order) == 3
    assert (whole.prior[part.order] == part.prior[part.order]).all()
    assert [row for row in whole.order if row in part.passed] == part.order.tolist()


def test_a_filter_lets_others_be_looked_at(store: Store, few: None) -> None:
    first, whole = looks(fill(store), QUERY)
    last = first.cards.documents[int(first.order[-1])]
    assert len(standing(whole, last.id)) == 3
    _, part = looks(store, QUERY, Filters(source=last.source_path))
    assert len(standing(part, last.id)) == 5


def test_a_copy_stands_where_its_twin_does(store: Store) -> None:
    fill(store, "visit", "harbour")
    copy = put(store, indexes()["visit"], "/copies/visit.md")
    _, second = looks(store, "Who visited the fabrication division?")
    assert standing(second, copy) == standing(second, "visit")
    assert second.prior[row_of(second, copy)] == second.prior[row_of(second, "visit")]
    assert len(second.order) == len({second.cards.texts[row] for row in second.order.tolist()})


def test_sentences_are_made_once(store: Store) -> None:
    encoder = Topics()
    many = searcher(fill(store), embeddings=True, encoder=encoder)
    many.search(QUERY)
    made = len(encoder.embedded)
    assert len(list(store.layers_named(STEMS))) == len(TEXTS)
    assert len(list(store.layers_named(VECTORS))) == len(TEXTS)
    many.search("Mercury")
    searcher(store, embeddings=True, encoder=encoder).search(QUERY)
    assert encoder.embedded[made:] == ["Mercury", QUERY]


def test_copies_are_embedded_once(store: Store) -> None:
    encoder = Topics()
    for path in ("/a.md", "/b.md", "/c.md"):
        put(store, indexes()["visit"], path)
    all_cards(store, encoder=encoder)
    assert len(encoder.embedded) == len(indexes()["visit"].segments) + 1


def test_sentences_of_another_cut_are_made_when_looked_at(store: Store) -> None:
    """Vectors are kept for a content, and one content may be cut in several ways."""
    fill(store, "metal")
    all_cards(store, encoder=Topics())
    info = replace(store.documents()[0], granularity=Granularity.ELEMENT, fingerprint="other")
    encoder = Topics()
    reader = SentenceReader(store, encoder)
    (first,), (again,) = reader.read([info]), reader.read([info])
    assert first.vectors is not None
    assert again.vectors is not None
    assert len(first.vectors.codes) == len(encoder.embedded) == len(indexes()["metal"].segments)
    assert again.vectors.to_bytes() == first.vectors.to_bytes()
    assert again.stems.to_bytes() == first.stems.to_bytes()


def test_a_second_look_asks_the_store_once(store: Store) -> None:
    fill(store)
    encoder = Topics()
    all_cards(store, encoder=encoder)
    first = Shortlist.of(
        CardTable.of(all_cards(store, encoder=encoder)),
        QUERY,
        encoder=encoder,
        filters=Filters(),
        size=len(TEXTS),
    )
    assert isinstance(store, SqliteStore)
    statements: list[str] = []
    store._connection.set_trace_callback(statements.append)
    second_look(first, SentenceReader(store, encoder))
    assert len([each for each in statements if "SELECT" in each]) == 1


def test_stems_come_back_as_they_were() -> None:
    for index in indexes().values():
        made = SentenceStems.of(index)
        assert SentenceStems.from_bytes(made.to_bytes()).to_bytes() == made.to_bytes()
        assert len(made.sizes) == 1 + len(index.segments)


@pytest.mark.parametrize("damage", [b"", b"x", b"\0" * 8, b"\1\0\0\0\1\0\0\0" + b"\0" * 12])
def test_broken_stems_are_a_broken_store(store: Store, damage: bytes) -> None:
    many = searcher(fill(store, "metal"))
    many.search("Mercury")
    ((content, fingerprint, _),) = store.layers_named(STEMS)
    store.put_layer(content, STEMS, fingerprint, damage)
    with pytest.raises(StoreCorrupt, match="stems"):
        many.search("Mercury")


def test_broken_sentence_vectors_are_a_broken_store(store: Store) -> None:
    many = searcher(fill(store, "metal"), embeddings=True, encoder=Topics())
    many.search("Mercury")
    ((content, fingerprint, data),) = store.layers_named(VECTORS)
    store.put_layer(content, VECTORS, fingerprint, data[:-1])
    with pytest.raises(StoreCorrupt, match="vectors"):
        many.search("Mercury")


def test_of_a_very_long_document_the_first_sentences_count() -> None:
    index = indexes()["metal"]
    long = replace(index, records=index.records * MOST)
    assert len(sentences(long)) == MOST
    assert len(SentenceStems.of(long).sizes) == 1 + MOST


def test_a_document_that_is_only_a_title_is_known_by_it(store: Store) -> None:
    encoder = Topics()
    fill(store, "harbour")
    info, bare = store.documents()[0], replace(indexes()["metal"], records=())
    (data,) = SentenceReader(store, encoder).vector_layer(info, bare).values()
    assert encoder.embedded == ["Mercury"]
    assert len(QuantizedVectors.from_bytes(data).codes) == 1
    title = SentenceStems.of(bare)
    assert title.covered(title.hashes, np.ones(1)) == 1.0


def test_a_query_of_stop_words_covers_nothing(store: Store) -> None:
    _, second = looks(fill(store), "what is it about the hound")
    assert standing(second, "hounds")[ShortlistSource.COVER] > 0
    card_table = CardTable.of(all_cards(store, encoder=Topics()))
    first = Shortlist.of(card_table, "in 2024", encoder=Topics(), filters=Filters(), size=1)
    stopped = replace(first.query, text="of the")
    nothing = replace(first, query=stopped, order=np.arange(len(TEXTS)))
    looked = second_look(nothing, SentenceReader(store, Topics()))
    assert not looked.scores[ShortlistSource.COVER].any()


def test_why_not_tells_of_the_second_look(store: Store, few: None) -> None:
    many = searcher(fill(store), shortlist=1, embeddings=True, encoder=Topics())
    listed = many.shortlist(QUERY)
    second, third = (listed.cards.documents[int(row)].id for row in listed.order[1:3])
    text = indexes()[second].segments[0].text
    told = why_not(many, QUERY, SoughtPassage(text, document=second))
    assert "its closest sentence ranks it" in told.detail
    assert "the share of the query's words that one sentence holds ranks it" in told.detail
    told = why_not(many, QUERY, SoughtPassage(indexes()[third].segments[0].text, document=third))
    assert told.detail.endswith("it is too far behind for its sentences to be looked at")
    assert (len(told.standings), len(told.least)) == (3, 5)


# --- The third look: at the documents that are opened --------------------------------------------


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("third") / "library.db") as opened:
        yield fill(opened)


def held() -> list[DocumentIndex]:
    return [indexes()[name] for name in TEXTS]


def met(found: CollectionRanking) -> dict[str, float]:
    return {
        document.document: each.score
        for document in found.documents
        for each in document.standings
        if each.source is ShortlistSource.ALIGNMENT
    }


def test_opened_documents_are_looked_at_by_their_words(library: Store) -> None:
    many = searcher(library, ALIGNED, encoder=Topics(), embeddings=True, shortlist=3)
    found = met(many.search(QUERY))
    assert len(found) == 3
    for name, score in found.items():
        alignment = many.open(library.find(name)).scoring(QUERY, preset=ALIGNED).alignment
        assert alignment is not None
        size = many.cards.size
        stems = [set(words("\n".join((*i.segments[0].section, i.document.text)))) for i in held()]
        holders = [sum(words(word)[0] in own for own in stems) for word in alignment.asked_words]
        worth = np.array([np.log1p((size - df + 0.5) / (df + 0.5)) for df in holders])
        least = min((worth / worth.sum()) @ column for column in alignment.prices.T)
        assert score == pytest.approx(1 - least / MAX_GAP, abs=1e-6)


def test_a_preset_without_alignment_takes_no_third_look(library: Store) -> None:
    assert met(searcher(library, FAST).search("the lock at dawn")) == {}


def test_the_third_look_orders_documents_and_changes_no_hit(
    library: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = searcher(library, ALIGNED, encoder=Topics(), embeddings=True, shortlist=99)
    found = many.search(QUERY)
    weights = cast("dict[ShortlistSource, float]", WEIGHTS)
    had, more = sum(WEIGHTS.values()), weights[ShortlistSource.ALIGNMENT]
    monkeypatch.setitem(weights, ShortlistSource.ALIGNMENT, 0.0)
    before = many.search(QUERY)
    assert found.hits == before.hits
    priors = {document.document: document.prior for document in before.documents}
    best = max(document.prior for document in found.documents)
    assert len(priors) > 2
    for document in found.documents:
        mixed = (had - more) * priors[document.document] + more * met(found)[document.document]
        assert document.prior == pytest.approx(mixed / had, rel=1e-5)
        assert document.score == pytest.approx((document.prior / best) ** 72, rel=1e-4)
    scores = [document.score for document in found.documents]
    assert scores == sorted(scores, reverse=True)


def test_a_document_that_has_nothing_of_a_query_meets_nothing(library: Store) -> None:
    _, second = looks(library, QUERY, size=2)
    one, other = (second.cards.documents[row] for row in second.rows)
    scoring = searcher(library, ALIGNED).open(one).scoring(QUERY)
    looked = third_look(second, {second.rows[0]: scoring})
    assert standing(looked, one.id)[ShortlistSource.ALIGNMENT] > 0
    assert standing(looked, other.id)[ShortlistSource.ALIGNMENT] == 0


def test_the_shipped_encoder_takes_sentences_as_they_were_read_for_their_words(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, "metal", "visit")
    read: list[str] = []

    def counting(self: Aligner, text: str) -> AlignedText:
        read.append(text)
        return read_one(self, text)

    read_one = Aligner._read_one
    monkeypatch.setattr(Aligner, "_read_one", counting)
    encoder = WholeTextEncoder.load()
    monkeypatch.setattr(document_words, "default_aligner", lambda: encoder._aligner)
    all_cards(store, encoder=encoder)
    every = [indexes()[name] for name in ("metal", "visit")]
    texts = {segment_text(segment) for index in every for segment in index.segments}
    cut = {text for index in every for text in windows(index)}
    assert sorted(read) == sorted(texts | cut)
    info = store.find("visit")
    (kept,) = SentenceReader(store, encoder).read([info])
    own = encoder.embed([segment_text(segment) for segment in indexes()["visit"].segments])
    assert kept.vectors is not None
    assert kept.vectors.to_bytes() == QuantizedVectors.of(own).to_bytes()
