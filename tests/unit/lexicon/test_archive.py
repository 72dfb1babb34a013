"""The file the lexicon is read from, whole and broken."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest

from abstrag.errors import ResourceMissing
from abstrag.lexicon.inventory import FORMAT, MAGIC, pack, unpack
from abstrag.lexicon.wordnet import WordNet

ARRAYS = {
    "flags": np.array([True, False, True]),
    "odd": np.arange(7, dtype="u1"),
    "numbers": np.array([1, -2, 2**31 - 1], dtype="<i4"),
}
HEAD = len(MAGIC) + 4 + 32


@pytest.fixture
def whole() -> bytes:
    return pack({"wordnet": "9.9"}, ARRAYS)


def test_what_is_packed_comes_back(tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "lexicon.bin"
    path.write_bytes(whole)
    archive = unpack(path)
    assert archive.about == {"wordnet": "9.9"}
    for name, array in ARRAYS.items():
        assert archive.arrays[name].dtype == array.dtype
        assert archive.arrays[name].tolist() == array.tolist()
        assert archive.arrays[name].flags.aligned
        assert not archive.arrays[name].flags.writeable


def test_a_missing_file_is_a_missing_resource(tmp_path: Path) -> None:
    with pytest.raises(ResourceMissing, match="cannot read") as caught:
        WordNet.load(tmp_path / "none.bin")
    assert "none.bin" in str(caught.value)
    assert "compile_wordnet" in str(caught.value.hint)


def broken(whole: bytes) -> dict[str, bytes]:
    contents = bytearray(zlib.decompress(whole[HEAD:]))
    contents[-1] ^= 1
    newer = (FORMAT + 1).to_bytes(4, "little")
    return {
        "is no lexicon": b"PK\x03\x04" + whole[4:],
        "is no lexicon of ours": whole[: HEAD - 1],
        f"has format {FORMAT + 1}": MAGIC + newer + whole[len(MAGIC) + 4 :],
        "is damaged: Error -5": whole[:-9],
        "is damaged: its checksum differs": whole[:HEAD] + zlib.compress(bytes(contents)),
    }


@pytest.mark.parametrize("number", range(5))
def test_a_broken_file_is_told_from_a_whole_one(tmp_path: Path, whole: bytes, number: int) -> None:
    problem, data = list(broken(whole).items())[number]
    path = tmp_path / "lexicon.bin"
    path.write_bytes(data)
    with pytest.raises(ResourceMissing, match=problem) as caught:
        WordNet.load(path)
    assert caught.value.hint
