"""A folder with a model, whole and broken."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from abstrag.errors import ResourceMissing
from abstrag.model.record import to_json
from abstrag.neural.bundle import MANIFEST, MODEL, TOKENIZER, Bundle
from abstrag.neural.embedder import Embedder


def vouch_for(folder: Path, name: str, data: bytes) -> None:
    """Replace a file by another one that the manifest knows about."""
    (folder / name).write_bytes(data)
    manifest = Bundle.open(folder).manifest
    files = {**manifest.files, name: sha256(data).hexdigest()}
    (folder / MANIFEST).write_text(to_json(replace(manifest, files=files)), "utf-8")


@pytest.mark.parametrize("name", [MODEL, TOKENIZER, MANIFEST])
def test_a_missing_file_is_a_missing_resource(bundle: Path, name: str) -> None:
    (bundle / name).unlink()
    with pytest.raises(ResourceMissing, match=f"cannot read .*{name}") as caught:
        Embedder.load(bundle)
    assert "reinstall" in str(caught.value.hint)


@pytest.mark.parametrize("name", [MODEL, TOKENIZER])
def test_a_single_wrong_byte_is_noticed(bundle: Path, name: str) -> None:
    data = bytearray((bundle / name).read_bytes())
    data[len(data) // 2] ^= 1
    (bundle / name).write_bytes(data)
    with pytest.raises(ResourceMissing, match=f"{name}.* is damaged: its checksum differs"):
        Embedder.load(bundle)


@pytest.mark.parametrize("text", ["", "{", '{"name": "x"}', "[1]"])
def test_a_broken_manifest_is_noticed(bundle: Path, text: str) -> None:
    (bundle / MANIFEST).write_text(text, "utf-8")
    with pytest.raises(ResourceMissing, match=r"manifest\.json' is damaged: not a ModelManifest"):
        Embedder.load(bundle)


def test_a_file_the_manifest_does_not_know_is_not_read(bundle: Path) -> None:
    (bundle / "other.bin").write_bytes(b"")
    with pytest.raises(ResourceMissing, match="does not know"):
        Bundle.open(bundle).read("other.bin")


@pytest.mark.parametrize(
    ("name", "message"),
    [(MODEL, "the model cannot be loaded"), (TOKENIZER, "the tokenizer cannot be read")],
)
def test_a_file_that_is_something_else_is_a_missing_resource(
    bundle: Path, name: str, message: str
) -> None:
    vouch_for(bundle, name, b"\xff\xfe no such thing")
    with pytest.raises(ResourceMissing, match=message):
        Embedder.load(bundle)


def test_the_fingerprint_changes_with_any_file_and_any_setting(bundle: Path) -> None:
    whole = Bundle.open(bundle)
    vouch_for(bundle, "other.bin", b"")
    shorter = replace(whole, manifest=replace(whole.manifest, max_tokens=8))
    assert len({whole.fingerprint, Bundle.open(bundle).fingerprint, shorter.fingerprint}) == 3
    assert whole.fingerprint.startswith("all-MiniLM-L6-v2:")
