"""A model as it ships: a folder whose manifest vouches for every file in it.

    weights/
        tokenizer.json        one for all models, which share their vocabulary
        aligner/              manifest.json, model.onnx
        trunk/                the lower layers that the judge and the verdict model share
        judge/                …

A folder may have a tokenizer of its own; only when it has none is the one beside it used. Either
way the manifest knows its checksum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Final

from abstrag.errors import InputError, ResourceMissing
from abstrag.model.record import from_json, record, to_json

WEIGHTS: Final = Path(__file__).with_name("weights")
MANIFEST: Final = "manifest.json"
MODEL: Final = "model.onnx"
TOKENIZER: Final = "tokenizer.json"
REMEDY: Final = "reinstall abstrag, or write the model again with python -m tools.export"


class ModelTask(StrEnum):
    """What a model is for."""

    EMBED = "embed"
    JUDGE = "judge"
    VERDICT = "verdict"
    ALIGN = "align"
    TRUNK = "trunk"


@record
class Judging:
    """How a judge reads a pair, and how its logit becomes a probability.

    That is 1 / (1 + exp(−(slope · logit + offset))), fitted on data the judge was not trained on.
    """

    slope: float = 1.0
    offset: float = 0.0
    query_tokens: int = 96  # at most this much of a query is read
    title: bool = False  # the document's title stands before the section's name


@record
class Deciding:
    """How a claim is read with its evidence, and when the answer is worth saying."""

    temperature: float = 1.0  # the logits are divided by this
    threshold: float = 0.5  # below it nothing should be said
    query_tokens: int = 96
    piece_tokens: int = 110  # at most this much of each piece of evidence is read


@record
class Aligning:
    """What turns the aligner's cosines into prices: log(1 + exp(offset − steep · cosine))."""

    word_steep: float
    word_offset: float
    gist_steep: float
    gist_offset: float
    gist_share: float  # of the whole beside the words
    scale: float  # of the sum, where it was trained
    limit: float  # a word whose price is above it is not met
    gist_dimensions: int = 384


@record
class ModelManifest:
    """What a model is, where it came from, and the SHA-256 of its files."""

    name: str
    task: ModelTask
    licence: str
    source_sha256: str  # of the weights it was made from
    precision: str
    dimensions: int  # of what it gives: a vector, or logits
    max_tokens: int  # read at a time
    vocabulary: int
    files: Mapping[str, str]
    judging: Judging | None = None
    deciding: Deciding | None = None
    aligning: Aligning | None = None
    trunk: str | None = None  # the folder beside it whose graph reads first, and gives it states


@dataclass(frozen=True, slots=True)
class Bundle:
    """A folder with a model, read file by file and never unchecked."""

    folder: Path
    manifest: ModelManifest

    @classmethod
    def open(cls, folder: Path, task: ModelTask | None = None) -> Bundle:
        """Read the manifest of a folder, which must be for a task when one is named.

        Raises:
            ResourceMissing: The manifest is not there, or says something else than a manifest.
            InputError: The model is for something else.
        """
        path = folder / MANIFEST
        try:
            manifest = from_json(ModelManifest, _bytes(path))
        except InputError as error:
            raise ResourceMissing(f"{str(path)!r} is damaged: {error}", hint=REMEDY) from error
        if task is not None and manifest.task is not task:
            raise InputError(
                f"the model in {str(folder)!r} is for the task {manifest.task.value!r}, "
                f"not {task.value!r}",
                hint="name the folder of another model",
            )
        return cls(folder, manifest)

    @property
    def fingerprint(self) -> str:
        """A name that changes with any file, and with how the files are used."""
        digest = sha256(to_json(self.manifest).encode()).hexdigest()
        return f"{self.manifest.name}:{digest[:16]}"

    @property
    def trunk(self) -> Bundle | None:
        """The model beside this one whose states it reads.

        Raises:
            ResourceMissing: It is not there, or is not the one this model was made with.
        """
        if self.manifest.trunk is None:
            return None
        found = Bundle.open(self.folder.parent / self.manifest.trunk, ModelTask.TRUNK)
        if found.manifest.files[MODEL] != self.manifest.files.get(found.path_of(MODEL)):
            raise ResourceMissing(
                f"{str(found.folder)!r} is not what {self.manifest.name!r} was made with",
                hint=REMEDY,
            )
        return found

    def path_of(self, name: str) -> str:
        """Return a file's path as a model beside this one names it."""
        return f"../{self.folder.name}/{name}"

    def read(self, name: str) -> bytes:
        """Return the bytes of a file, which are those the manifest means.

        Raises:
            ResourceMissing: The file is missing, damaged or not in the manifest.
        """
        path = self.folder / name
        if name not in self.manifest.files:
            raise ResourceMissing(f"the manifest does not know {str(path)!r}", hint=REMEDY)
        if name == TOKENIZER and not path.exists():
            path = self.folder.parent / name
        data = _bytes(path)
        if sha256(data).hexdigest() != self.manifest.files[name]:
            raise ResourceMissing(f"{str(path)!r} is damaged: its checksum differs", hint=REMEDY)
        return data


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ResourceMissing(
            f"cannot read {str(path)!r}: {error.strerror}", hint=REMEDY
        ) from error
