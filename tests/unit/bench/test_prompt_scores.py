"""A wording of a prompt gets a number from a small labelled set."""

from abstrag.bench.prompt_scores import SCORED, items_of, score_prompt
from abstrag.llm.scripted import ScriptedModel
from abstrag.policy.load import load_program


def test_every_labelled_set_has_inputs_and_labels() -> None:
    for name in SCORED:
        items = items_of(name)
        assert len(items) >= 5
        assert all(inputs and expected for inputs, expected in items)


def test_a_model_that_says_one_label_is_right_as_often_as_that_label_is() -> None:
    said = {"label": "REFUTES", "citations": [], "reason": "", "missing": []}
    score = score_prompt(load_program("verdict"), ScriptedModel({"verdict": said}))
    labels = [expected["label"] for _, expected in items_of("verdict")]
    assert score.score == labels.count("REFUTES") / len(labels)
    assert score.obeyed == score.items == len(labels)


def test_a_reply_that_does_not_obey_is_worth_nothing() -> None:
    score = score_prompt(load_program("critic"), ScriptedModel({"critic": {"sufficient": "yes"}}))
    assert (score.obeyed, score.score) == (0, 0.0)
