import pytest

from abstrag.language.parser import parse
from abstrag.language.words import Words, phrase_key

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
