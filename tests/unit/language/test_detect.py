"""A text in another language is known to be one; English is never taken for another."""

import json
from importlib import import_module
from importlib.resources import files

import pytest

from abstrag.language.words import ENGLISH, NAMES, language_name, language_of

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
