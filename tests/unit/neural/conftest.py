"""The model that ships, and one of each kind that is small enough to break."""

from __future__ import annotations

from pathlib import Path

import pytest

from abstrag.neural.whole_text import WholeTextEncoder
from tests.unit.neural import tiny
from tools.export.folder import export
from tools.export.graph import Precision

QUERY_TOKENS = 4


@pytest.fixture(scope="session")
def shipped() -> WholeTextEncoder:
    """Return the shipped model on one core."""
    return WholeTextEncoder.load(threads=1)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Return the folder of a tiny exported embedder."""
    checksum = tiny.publish(tmp_path / "published")
    export(tmp_path / "published", tmp_path / "bundle", precision=Precision.INT8, expected=checksum)
    return tmp_path / "bundle"


@pytest.fixture
def judge_folder(tmp_path: Path) -> Path:
    """Return the folder of a tiny exported judge in floats."""
    recipe = {
        "name": "tiny-judge",
        "task": "judge",
        "max_tokens": 99,
        "head": "linear",
        "judging": {"slope": 2.0, "offset": 0.5, "query_tokens": QUERY_TOKENS},
    }
    source = tmp_path / "published-judge"
    tiny.publish(source, recipe=recipe, extra=tiny.head("linear", 1))
    export(source, tmp_path / "judge", precision=Precision.FLOAT32)
    return tmp_path / "judge"


@pytest.fixture
def verdict_folder(tmp_path: Path) -> Path:
    """Return the folder of a tiny exported verdict model in floats."""
    recipe = {
        "name": "tiny-verdict",
        "task": "verdict",
        "max_tokens": 99,
        "head": "tanh",
        "deciding": {"temperature": 2.0, "threshold": 0.6, "query_tokens": QUERY_TOKENS},
    }
    source = tmp_path / "published-verdict"
    tiny.publish(source, recipe=recipe, extra=tiny.head("tanh", 3))
    export(source, tmp_path / "verdict", precision=Precision.FLOAT32)
    return tmp_path / "verdict"
