"""Two models: the one that ships, and one small enough to break."""

from __future__ import annotations

from pathlib import Path

import pytest

from abstrag.neural.embedder import Embedder
from tests.unit.neural.tiny import publish
from tools.export_minilm import export


@pytest.fixture(scope="session")
def shipped() -> Embedder:
    """Return the shipped model on one core."""
    return Embedder.load(threads=1)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Return the folder of a tiny exported model."""
    checksum = publish(tmp_path / "published")
    export(tmp_path / "published", tmp_path / "bundle", precision="int8", expected=checksum)
    return tmp_path / "bundle"
