"""WordNet against NLTK, which answered the same questions (tools/wordnet_reference.py)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import WordNet, wordnet

GOLDEN = Path(__file__).parents[2] / "golden" / "wordnet_reference.json"


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(GOLDEN.read_text())
    return made


@pytest.fixture(scope="module")
def wn(reference: dict[str, Any]) -> WordNet:
    made = wordnet()
    note = reference["note"]
    assert (made.version, made.sources["data.noun"]) == (note["wordnet"], note["data.noun"])
    return made


def spaced(lemmas: Sequence[str]) -> list[str]:
    return [lemma.replace("_", " ") for lemma in lemmas]


def test_wu_palmer_agrees(wn: WordNet, reference: dict[str, Any]) -> None:
    pairs = np.array([[wn.synset(a), wn.synset(b)] for a, b, _ in reference["wup"]])
    expected = np.array([similarity for _, _, similarity in reference["wup"]])
    assert len(expected) > 500
    np.testing.assert_allclose(wn.wup_many(pairs), expected, rtol=0, atol=1e-9)
    one_by_one = [wn.wup(a, b) for a, b in pairs.tolist()]
    np.testing.assert_allclose(one_by_one, expected, rtol=0, atol=1e-9)


def test_synsets_agree(wn: WordNet, reference: dict[str, Any]) -> None:
    def named(synsets: Sequence[int]) -> list[str]:
        return sorted(wn.name(s) for s in synsets)

    for name, expected in reference["synsets"].items():
        s = wn.synset(name)
        assert wn.name(s) == name
        assert list(wn.lemmas(s)) == spaced(expected["lemmas"]), name
        assert named(wn.hypernyms(s)) == expected["hypernyms"], name
        assert named(wn.hyponyms(s)) == expected["hyponyms"], name
        assert named(wn.ancestors(s)) == sorted(
            {above for path in expected["paths"] for above in path} - {name}
        )
        assert wn.is_instance(s) == expected["instance"], name
        assert (wn.depth(s), wn.max_depth(s)) == (expected["min_depth"], expected["max_depth"])
        assert named(wn.entailments(s)) == expected["entailments"], name
        assert named(wn.causes(s)) == expected["causes"], name
        assert named(wn.similar(s)) == expected["similar"], name
        if expected["counts"] is not None:
            assert [wn.count(lemma, s) for lemma in expected["lemmas"]] == expected["counts"], name


def test_lemmas_agree(wn: WordNet, reference: dict[str, Any]) -> None:
    for key, expected in reference["lemmas"].items():
        lemma, pos = key.rsplit(" ", 1)
        assert [wn.name(s) for s in wn.synsets(lemma, Pos(pos))] == expected["synsets"], key
        derived = sorted([word, p.value] for word, p in wn.derived(lemma, Pos(pos)))
        assert derived == sorted([*spaced([word]), p] for word, p in expected["derived"]), key
        antonyms = sorted(wn.antonyms(lemma, Pos(pos)))
        assert antonyms == sorted(spaced([word for word, _ in expected["antonyms"]])), key


def test_base_forms_agree(wn: WordNet, reference: dict[str, Any]) -> None:
    for key, expected in reference["morphy"].items():
        form, pos = key.rsplit(" ", 1)
        base = wn.morphy(form, Pos(pos))
        assert base == (None if expected is None else expected.replace("_", " ")), key
