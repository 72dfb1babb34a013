"""Words fold to keys and stems, and a text in another language is known to be one."""

import json
from importlib import import_module
from importlib.resources import files

import pytest

from abstrag.language.parser import parse
from abstrag.language.words import ENGLISH, NAMES, Words, language_name, language_of, phrase_key

SENTENCE = "Two chip suppliers sold fine-tuned language models to the large European data centers."


@pytest.fixture(scope="module")
def words() -> Words:
    return Words(parse([SENTENCE])[0])


def at(words: Words, text: str) -> int:
    return words.text.index(text)


def phrases(words: Words, head: str) -> list[str]:
    token = at(words, head)
    return [words.phrase_key(first, token) for first in words.phrase(token)]


def test_a_phrase_is_found_with_all_shorter_ones_down_to_its_head(words: Words) -> None:
    assert phrases(words, "centers") == [
        "center",
        "data center",
        "european data center",
        "large european data center",
    ]


def test_numbers_and_determiners_are_no_part_of_a_phrase(words: Words) -> None:
    assert phrases(words, "suppliers") == ["supplier", "chip supplier"]


def test_a_word_with_hyphens_is_taken_whole(words: Words) -> None:
    assert phrases(words, "models")[-1] == "fine-tuned language model"


def test_phrase_keys_are_those_of_the_query_side(words: Words) -> None:
    doc = parse([SENTENCE])[0]
    for head in range(words.size):
        for first in words.phrase(head):
            if words.pos[head] == "NOUN":
                assert words.phrase_key(first, head) == phrase_key(doc[first : head + 1])


def test_a_label_keeps_capitals_that_mean_something() -> None:
    words = Words(parse(["Recent AI startups and Fine-Tuned mRNA vaccines were sold."])[0])
    startups, vaccines = at(words, "startups"), at(words, "vaccines")
    assert words.label(startups - 1, startups) == "AI startup"
    assert words.label(vaccines - 1, vaccines) == "mRNA vaccine"


def test_coordinated_words_come_in_the_order_of_the_text() -> None:
    words = Words(parse(["She met Anna, Bob and Carl."])[0])
    assert [words.text[i] for i in words.conjuncts(at(words, "Anna"))] == ["Anna", "Bob", "Carl"]


WITH_EXAMPLES = sorted(set(NAMES) - {"th"})


def examples(code: str) -> list[str]:
    sentences: list[str] = import_module(f"spacy.lang.{code}.examples").sentences
    return sentences


@pytest.mark.parametrize("code", WITH_EXAMPLES)
def test_a_text_of_some_sentences_is_english_or_not(code: str) -> None:
    found = language_of(" ".join(examples(code)))
    assert (found == ENGLISH) == (code == ENGLISH)


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("Wie hoch war der Umsatz im Jahr 2021?", "de"),
        ("Quel était le chiffre d’affaires en 2021 ?", "fr"),
        ("¿Cuál fue el ingreso neto de la empresa?", "es"),
        ("Qual è il margine lordo della società?", "it"),
        ("2021年の売上高はいくらですか", "ja"),
        ("Какова выручка компании?", "ru"),
        ("公司的收入是多少?", "zh"),
    ],
)
def test_a_query_tells_its_language(query: str, code: str) -> None:
    assert language_of(query) == code


@pytest.mark.parametrize(
    "text",
    [
        "What was capex in FY2018?",
        "Did Nestlé and Société Générale merge?",
        "die casting war on tin",
        "PP&E",
        "2018",
        "",
        "Ulta Beauty",
        "α-synuclein aggregates in neurons",
        "Who is the CEO of Crédit Agricole?",
    ],
)
def test_english_with_names_from_elsewhere_stays_english(text: str) -> None:
    assert language_of(text) == ENGLISH


def test_a_language_has_a_name() -> None:
    assert language_name("de") == "German"
    assert language_name("xx") == "xx"


def test_the_bundled_english_documents_are_english() -> None:
    folder = files("abstrag.data") / "demo"
    texts = [page.read_text("utf-8") for page in folder.iterdir() if page.name.endswith(".md")]
    assert texts
    assert all(language_of(text) == ENGLISH for text in texts)
    assert language_of(json.dumps({"title": "The harbour", "text": "It was mended."})) == ENGLISH
