"""A model is loaded once: when it reads its first text, or beforehand in the background."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from abstrag.errors import ResourceMissing
from abstrag.neural import aligner as aligners
from abstrag.neural import judge as judges
from abstrag.neural import runtime
from abstrag.neural.aligner import Aligner, default_aligner
from abstrag.neural.bundle import MODEL
from abstrag.neural.embedder import Embedder
from abstrag.neural.judge import EvidenceJudge, default_judge, preload, preload_for
from abstrag.neural.runtime import Runtime, Trunk, session_of
from abstrag.neural.vectors import CachedAligner

ALIGNED = -1  # in place of how much the aligner's graph gives


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows with every graph that is loaded, by how much a graph gives."""
    seen: list[int] = []

    def counted(
        model: bytes, *, inputs: int = 1, dimensions: int, trunk: Trunk | None = None
    ) -> Runtime:
        seen.append(dimensions)
        return Runtime(model, inputs=inputs, dimensions=dimensions, trunk=trunk)

    def aligned(model: bytes) -> Any:
        seen.append(ALIGNED)
        return session_of(model)

    monkeypatch.setattr(runtime, "Runtime", counted)
    monkeypatch.setattr(aligners, "session_of", aligned)
    return seen


@pytest.fixture
def packaged(judge_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let a tiny judge stand in for the one that ships; nothing is loaded yet."""
    tiny, aligner = EvidenceJudge.load(judge_folder, later=True), Aligner.load(later=True)
    monkeypatch.setattr(aligners.Aligner, "load", lambda **_: aligner)
    monkeypatch.setattr(judges.EvidenceJudge, "load", lambda **_: tiny)
    default_aligner.cache_clear()
    default_judge.cache_clear()
    yield judge_folder
    default_aligner.cache_clear()
    default_judge.cache_clear()


def test_a_model_that_reads_nothing_is_not_loaded(bundle: Path, loads: list[int]) -> None:
    made = Embedder.load(bundle, later=True)
    assert made.fingerprint == Embedder.load(bundle).fingerprint
    assert len(loads) == 1  # by the other one
    made.embed(["a dog"])
    made.embed(["a dog"])
    assert len(loads) == 2


def test_a_damaged_model_is_refused_at_once_unless_it_may_be_later(bundle: Path) -> None:
    (bundle / MODEL).write_bytes(b"nothing")
    with pytest.raises(ResourceMissing, match="damaged"):
        Embedder.load(bundle)
    made = Embedder.load(bundle, later=True)
    for _ in range(2):  # and each time again
        with pytest.raises(ResourceMissing, match="damaged"):
            made.embed(["a dog"])


def test_threads_that_need_a_model_at_once_load_it_once(bundle: Path, loads: list[int]) -> None:
    made = Embedder.load(bundle, later=True)
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda _: made.embed(["a dog"]).tolist(), range(8)))
    assert len(loads) == 1
    assert rows == rows[:1] * 8


def test_preloaded_models_are_those_that_are_used(packaged: Path, loads: list[int]) -> None:
    preload().join()
    assert len(loads) == 2
    default_aligner().read(["a dog"])
    default_judge().score("a dog", ["a cat"])
    assert len(loads) == 2


def test_only_the_models_asked_for_are_preloaded(packaged: Path, loads: list[int]) -> None:
    preload(aligner=False, judge=False).join()
    assert loads == []
    preload(judge=False).join()
    assert loads == [ALIGNED]


def test_what_cannot_be_preloaded_is_reported_when_it_is_used(packaged: Path) -> None:
    (packaged / MODEL).unlink()
    preload().join()
    default_aligner().read(["a dog"])
    with pytest.raises(ResourceMissing, match="cannot read"):
        default_judge().score("a dog", ["a cat"])


class Notebook:
    """A memory in a dictionary."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str, str, bytes], bytes] = {}

    def recall(
        self, kind: str, content_hash: str, model: str, keys: Sequence[bytes]
    ) -> dict[bytes, bytes]:
        places = {key: (kind, content_hash, model, key) for key in keys}
        return {key: self.kept[place] for key, place in places.items() if place in self.kept}

    def remember(
        self, kind: str, content_hash: str, model: str, values: Mapping[bytes, bytes]
    ) -> None:
        self.kept.update({(kind, content_hash, model, k): v for k, v in values.items()})


def test_models_are_preloaded_for_questions_that_are_new_to_a_text(
    packaged: Path, loads: list[int]
) -> None:
    memory = Notebook()
    CachedAligner(default_aligner(), memory, content_hash="one").read(["a dog"])
    assert len(loads) == 1
    assert preload_for("a dog", memory, content_hash="one") is None
    begun = preload_for("a dog", memory, content_hash="another")
    assert begun is not None
    begun.join()
    assert len(loads) == 2  # the judge; the aligner was loaded already


def test_a_search_without_models_preloads_none(loads: list[int]) -> None:
    assert preload_for("a dog", Notebook(), content_hash="", aligner=False, judge=False) is None
    assert loads == []
