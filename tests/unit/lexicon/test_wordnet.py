"""WordNet as the package ships it."""

from __future__ import annotations

import numpy as np
import pytest

from abstrag.errors import InputError
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import DATA, WordNet, wordnet

NOUN, VERB, ADJECTIVE, ADVERB = Pos


@pytest.fixture(scope="module")
def wn() -> WordNet:
    return wordnet()


def names(wn: WordNet, synsets: tuple[int, ...]) -> list[str]:
    return [wn.name(s) for s in synsets]


def test_meanings_come_most_frequent_first(wn: WordNet) -> None:
    meanings = wn.synsets("car", NOUN)
    assert names(wn, meanings) == ["car.n.01", "car.n.02", "car.n.03", "car.n.04", "cable_car.n.01"]
    counts = [wn.count("car", s) for s in meanings]
    assert counts[0] == 71
    assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize("spelling", ["new york", "New_York", "NEW  YORK", " new_york "])
def test_case_spaces_and_underscores_do_not_matter(wn: WordNet, spelling: str) -> None:
    assert names(wn, wn.synsets(spelling, NOUN))[0] == "new_york.n.01"


def test_lemmas_keep_their_case_and_have_spaces(wn: WordNet) -> None:
    assert wn.lemmas(wn.synset("new_york.n.01")) == (
        "New York",
        "New York City",
        "Greater New York",
    )


def test_words_that_differ_only_in_case_are_both_lemmas(wn: WordNet) -> None:
    letter = wn.synset("a.n.06")
    assert wn.lemmas(letter) == ("A", "a")
    assert wn.synsets("a", NOUN).count(letter) == 1


@pytest.mark.parametrize(
    ("form", "pos", "base"),
    [
        ("geese", NOUN, "goose"),
        ("ran", VERB, "run"),
        ("churches", NOUN, "church"),
        ("collaborating", VERB, "collaborate"),
        ("finest", ADJECTIVE, "fine"),
        ("Governors General", NOUN, "governor general"),
        ("run", VERB, "run"),
        ("xyzzies", NOUN, None),
        ("", NOUN, None),
        ("naïvetés\ud800", NOUN, None),
    ],
)
def test_a_form_has_its_base_form(wn: WordNet, form: str, pos: Pos, base: str | None) -> None:
    assert wn.morphy(form, pos) == base


def test_a_form_means_what_its_base_form_means(wn: WordNet) -> None:
    assert wn.synsets("geese", NOUN) == wn.synsets("goose", NOUN) != ()
    assert wn.derived("collaborations", NOUN) == wn.derived("collaboration", NOUN) != ()


def test_a_word_of_its_own_is_not_taken_for_a_form_of_another(wn: WordNet) -> None:
    assert names(wn, wn.synsets("glasses", NOUN)) == ["spectacles.n.01"]


def test_a_form_of_two_words_means_what_either_means(wn: WordNet) -> None:
    assert wn.synsets("axes", NOUN) == wn.synsets("ax", NOUN) + wn.synsets("axis", NOUN)


def test_an_unknown_word_means_nothing(wn: WordNet) -> None:
    assert wn.synsets("xyzzy", NOUN) == ()
    assert wn.synsets("collaborate", NOUN) == ()
    assert wn.derived("xyzzy", NOUN) == ()


def test_derivation_leads_from_the_verb_to_the_noun_and_back(wn: WordNet) -> None:
    assert ("collaboration", NOUN) in wn.derived("collaborate", VERB)
    assert ("collaborate", VERB) in wn.derived("collaboration", NOUN)
    assert ("American", ADJECTIVE) in wn.derived("america", NOUN)


def test_antonyms_are_of_the_word_not_of_its_synonyms(wn: WordNet) -> None:
    assert wn.antonyms("fast", ADJECTIVE) == ("slow",)
    assert wn.antonyms("speedy", ADJECTIVE) == ()


def test_names_and_synsets_translate_both_ways(wn: WordNet) -> None:
    sample = range(0, len(wn), 97)
    assert [wn.synset(wn.name(s)) for s in sample] == list(sample)


def test_a_satellite_is_an_adjective_with_a_name_of_its_own(wn: WordNet) -> None:
    fast = wn.synset("fast.a.01")
    satellite = next(s for s in wn.similar(fast) if "speedy" in wn.lemmas(s))
    assert wn.name(satellite).split(".")[1] == "s"
    assert wn.pos(satellite) is ADJECTIVE
    assert fast in wn.similar(satellite)


@pytest.mark.parametrize(
    "name", ["", "car", "car.n", "car.n.99", "car.n.00", "car.x.01", "xyzzy.n.01", "car.n.one"]
)
def test_an_unknown_name_is_an_error_that_says_so(wn: WordNet, name: str) -> None:
    with pytest.raises(InputError, match="no synset") as caught:
        wn.synset(name)
    assert repr(name) in str(caught.value)


def test_a_count_is_asked_only_for_a_word_of_the_synset(wn: WordNet) -> None:
    assert wn.count("run", wn.synset("run.v.01")) == 106
    with pytest.raises(InputError, match=r"'walk' is no word of the synset 'run\.v\.01'"):
        wn.count("walk", wn.synset("run.v.01"))


def test_ancestors_come_nearest_first_and_end_at_the_root(wn: WordNet) -> None:
    dog = wn.synset("dog.n.01")
    ancestors = wn.ancestors(dog)
    assert names(wn, ancestors)[:2] == names(wn, wn.hypernyms(dog))
    assert set(names(wn, ancestors)[:2]) == {"canine.n.02", "domestic_animal.n.01"}
    assert wn.name(ancestors[-1]) == "entity.n.01"
    assert len(set(ancestors)) == len(ancestors)
    steps = {dog: 0}
    for ancestor in ancestors:  # each is one step above something nearer or as near
        below = [s for s in steps if ancestor in wn.hypernyms(s)]
        steps[ancestor] = 1 + min(steps[s] for s in below)
    assert list(steps.values()) == sorted(steps.values())


def test_hyponyms_are_hypernyms_read_backwards(wn: WordNet) -> None:
    for synset in range(0, len(wn), 501):
        assert all(synset in wn.hyponyms(above) for above in wn.hypernyms(synset))
        assert all(synset in wn.hypernyms(below) for below in wn.hyponyms(synset))


def test_an_instance_is_told_from_a_class(wn: WordNet) -> None:
    assert wn.is_instance(wn.synset("paris.n.01"))
    assert not wn.is_instance(wn.synset("city.n.01"))
    assert "national_capital.n.01" in names(wn, wn.hypernyms(wn.synset("paris.n.01")))


def test_verbs_entail_and_cause(wn: WordNet) -> None:
    assert names(wn, wn.entailments(wn.synset("snore.v.01"))) == ["sleep.v.01"]
    assert names(wn, wn.causes(wn.synset("kill.v.01"))) == ["die.v.01"]


def test_the_lowest_common_ancestor_is_the_deepest(wn: WordNet) -> None:
    dog, cat, run = (wn.synset(n) for n in ("dog.n.01", "cat.n.01", "run.v.01"))
    common = wn.lowest_common(dog, cat)
    assert common == wn.synset("carnivore.n.01")
    assert wn.lowest_common(dog, common) == common
    assert wn.lowest_common(dog, run) is None


def test_many_similarities_are_the_same_as_one_by_one(wn: WordNet) -> None:
    pairs = np.random.default_rng(3).integers(len(wn), size=(5000, 2))
    pairs[:50, 1] = pairs[:50, 0]
    assert wn.wup_many(pairs).tolist() == [wn.wup(a, b) for a, b in pairs.tolist()]
    small = np.array([[3, 250], [250, 3]], dtype=np.uint8)
    assert wn.wup_many(small).tolist() == [wn.wup(3, 250), wn.wup(250, 3)]
    assert wn.wup_many(np.empty((0, 2), dtype=np.int64)).tolist() == []


def test_the_cycle_of_wordnet_is_cut_open(wn: WordNet) -> None:
    restrain, inhibit = wn.synset("restrain.v.01"), wn.synset("inhibit.v.04")
    assert wn.hypernyms(restrain) == (inhibit,)
    assert wn.hypernyms(inhibit) == ()
    assert wn.wup(inhibit, restrain) == pytest.approx(2 / 3)


def test_the_packaged_file_says_what_it_was_made_from(wn: WordNet) -> None:
    assert wn.version == "3.0"
    assert wn.sources["data.noun"].startswith("489f145e0f68877c")
    assert repr(wn) == f"WordNet('3.0', '{wn.checksum[:12]}')"
    assert DATA.stat().st_size < 6_000_000
    licence = DATA.with_name("WORDNET-LICENSE").read_text()
    assert f"WordNet {wn.version} Copyright 2006 by Princeton University" in licence


def test_wordnet_is_loaded_once_and_cannot_be_changed(wn: WordNet) -> None:
    assert wordnet() is wn
    with pytest.raises(AttributeError):
        wn.version = "4.0"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        wn.taxonomy.up.item[0] = 1
