"""Idioms: found by their words in any inflection, and nothing else."""

import os
import subprocess
import sys

import pytest

from abstrag.lexicon.events import idiom_at


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("kicked the bucket", "die"),
        ("throwing in the towel", "give up"),
        ("went belly up", "bankrupt"),
        ("blew his top", "anger"),
        ("bit the dust", "fail"),
        ("hit the books", "study"),  # of WordNet, and of the list
        ("gave the old bridge the green light", "approve"),  # something between its words
        ("hung up her skis", "retire"),
        ("is still in its infancy", "early"),  # an adverb behind its verb
        ("feels under the weather", "ill"),  # another verb for "be"
    ],
)
def test_an_idiom_is_found_in_any_inflection(text: str, meaning: str) -> None:
    words = text.split()
    found = idiom_at(words, words, 0)
    assert found is not None
    assert meaning in found.meanings


@pytest.mark.parametrize("text", ["kicked the ball", "threw in the net", "blew the top", "went up"])
def test_the_same_verb_with_other_words_is_none(text: str) -> None:
    words = text.split()
    assert idiom_at(words, words, 0) is None


def test_an_idiom_that_the_text_does_not_finish_is_none() -> None:
    words = "they kicked the".split()
    assert idiom_at(words, words, 1) is None


@pytest.mark.parametrize("seed", ["1", "2", "3", "9"])  # of the hashes of strings
def test_of_idioms_of_one_length_every_process_takes_the_same(seed: str) -> None:
    asked = (
        "from abstrag.lexicon.events import idiom_at\n"
        "words = 'change his mind'.split()\n"
        "print(idiom_at(words, words, 0).meanings[0])"
    )
    run = subprocess.run(
        [sys.executable, "-c", asked],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "change\n"


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("They got the go - ahead in May", "approve"),
        ("She put her head in the lion 's mouth", "risk"),
        ("He was at his wits ' end", "confused"),
        ("It is all greek to him", "confused"),
        ("They kept mum about it", "hide"),
        ("The fans went home with tails up and had a falling - out", "quarrel"),
        ("She gave the show away", "reveal"),
        ("The bank was laughing all the way to the bank", "rich"),
        ("He throws good money after bad", "waste"),
        ("The cook was run off his feet", "work"),
        ("They split their sides", "laugh"),
        ("He worked his way up", "work"),
    ],
)
def test_an_idiom_is_found_as_a_parser_cuts_its_words(text: str, meaning: str) -> None:
    words = text.split()
    lower = [word.lower() for word in words]
    found = [idiom_at(words, lower, i) for i in range(len(words))]
    assert any(one is not None and meaning in one.meanings for one in found)


@pytest.mark.parametrize(
    "text",
    [
        "she took out the rubbish",
        "the cat had kittens",
        "they went down to the harbour",
        "he bowed to the queen",
        "the ship ran aground",
        "he beat it with a fork",
    ],
)
def test_plain_words_of_plain_sense_are_no_idiom(text: str) -> None:
    words = text.split()
    assert not any(idiom_at(words, words, i) for i in range(len(words)))
