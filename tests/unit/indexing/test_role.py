import pytest

from abstrag.indexing.genre import role_of_heading, role_of_label
from abstrag.model.segment import SegmentRole


@pytest.mark.parametrize(
    ("heading", "role"),
    [
        ("1 Introduction", SegmentRole.INTRODUCTION),
        ("3.2. Experimental Setup", SegmentRole.METHODS),
        ("IV. RESULTS", SegmentRole.RESULTS),
        ("2 Related Work", SegmentRole.BACKGROUND),
        ("Model Architecture", SegmentRole.METHODS),
        ("Conclusions and Future Work", SegmentRole.CONCLUSION),
        ("Results and Discussion", SegmentRole.DISCUSSION),
        ("References", SegmentRole.REFERENCES),
        ("Appendix A: Results in full", SegmentRole.APPENDIX),
        ("Abstract", SegmentRole.ABSTRACT),
        ("The history of ducks", None),
    ],
)
def test_a_heading_announces_a_role(heading: str, role: SegmentRole | None) -> None:
    assert role_of_heading(heading) is role


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("METHODS: We enrolled 40 patients.", SegmentRole.METHODS),
        ("RESULTS All patients recovered.", None),
        ("Conclusions. The drug works.", SegmentRole.CONCLUSION),
        ("Anthropic: a company.", None),
    ],
)
def test_a_structured_abstract_is_read_by_its_labels(text: str, role: SegmentRole | None) -> None:
    assert role_of_label(text) is role
