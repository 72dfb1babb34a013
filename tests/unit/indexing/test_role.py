import pytest

from abstrag.indexing.role import role_of_heading, role_of_label
from abstrag.model.segment import Role


@pytest.mark.parametrize(
    ("heading", "role"),
    [
        ("1 Introduction", Role.INTRODUCTION),
        ("3.2. Experimental Setup", Role.METHODS),
        ("IV. RESULTS", Role.RESULTS),
        ("2 Related Work", Role.BACKGROUND),
        ("Model Architecture", Role.METHODS),
        ("Conclusions and Future Work", Role.CONCLUSION),
        ("Results and Discussion", Role.DISCUSSION),
        ("References", Role.REFERENCES),
        ("Appendix A: Results in full", Role.APPENDIX),
        ("Abstract", Role.ABSTRACT),
        ("The history of ducks", None),
    ],
)
def test_a_heading_announces_a_role(heading: str, role: Role | None) -> None:
    assert role_of_heading(heading) is role


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("METHODS: We enrolled 40 patients.", Role.METHODS),
        ("RESULTS All patients recovered.", None),
        ("Conclusions. The drug works.", Role.CONCLUSION),
        ("Anthropic: a company.", None),
    ],
)
def test_a_structured_abstract_is_read_by_its_labels(text: str, role: Role | None) -> None:
    assert role_of_label(text) is role
