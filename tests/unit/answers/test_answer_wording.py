import pytest

from abstrag.answers.answer import wording_of
from abstrag.model.answer import Asked


@pytest.mark.parametrize(
    "text",
    [
        "Aspirin lowers the risk of stroke.",
        "Receiving Party shall not reverse engineer any objects of Disclosing Party",
        "The plant was closed in 2021",
        "0-dimensional biomaterials show inductive properties.",
    ],
)
def test_a_sentence_that_states_something_is_a_claim(text: str) -> None:
    assert wording_of(text) is Asked.CLAIM


@pytest.mark.parametrize(
    "text",
    [
        "Who visited TSMC?",
        "what the authors measured",
        "Does aspirin lower the risk of stroke?",
        "Aspirin lowers the risk?",
        "Give me all collaborations between LLM companies and chip suppliers",
        "prices of accelerators in 2024",
        "stroke",
    ],
)
def test_what_asks_orders_or_only_names_is_a_question(text: str) -> None:
    assert wording_of(text) is Asked.QUESTION
