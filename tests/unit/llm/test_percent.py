"""What a model gives in percent is kept as a share."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from abstrag.llm.shape import Percent
from abstrag.model.record import record


@record
class Sure:
    confidence: Percent


@pytest.mark.parametrize(("said", "share"), [(0, 0.0), (85, 0.85), (100, 1.0), (90.0, 0.9)])
def test_percent_become_a_share(said: float, share: float) -> None:
    assert TypeAdapter(Sure).validate_python({"confidence": said}).confidence == share


@pytest.mark.parametrize("said", [-1, 101, "often", None])
def test_what_is_no_percentage_is_refused(said: Any) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Sure).validate_python({"confidence": said})
