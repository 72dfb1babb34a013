"""Scripted models for the operators: one with nothing to say, one that always finds something."""

import json
import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from abstrag.indexing.prompted.prompts import IndexPrompts
from abstrag.llm.budget import Batching
from abstrag.llm.model import ModelRequest
from abstrag.llm.prompt import Program
from abstrag.llm.scripted import ScriptedModel
from abstrag.policy.load import load_programs
from tests.unit.indexing.prompted.encoders import Letters

_PRONOUN = re.compile(r"\b(?:it|they|she|he|this|that|these|those)\b", re.I)
SILENT: Mapping[str, Any] = {
    "coreference": {"links": [], "unresolved": []},
    "extract_statements": {"statements": []},
    "lift_context": {"values": []},
    "truth_eval": {"verdicts": []},
    "normalize_entities": {"aliases": [], "ambiguous": []},
    "confirm_merge": {"verdicts": []},
    "extract_concepts": {"concepts": []},
    "align_concepts": {"alignments": []},
    "role_probability": {"probabilities": []},
    "extract_events": {"events": []},
    "align_events": {"alignments": []},
}


def given(request: ModelRequest) -> Any:
    """Return the inputs of a request."""
    return json.loads(request.user.removeprefix("<data>\n").removesuffix("\n</data>"))


def silent(**replies: Any) -> ScriptedModel:
    """Return a model with nothing to say but these replies."""
    return ScriptedModel({**SILENT, **replies})


def diligent() -> ScriptedModel:
    """Return a model that finds something in everything, always where it stands."""
    return ScriptedModel(
        {
            **SILENT,
            "extract_statements": _each("statements", _statement, 40),
            "lift_context": _values,
            "truth_eval": _verdicts,
            "extract_concepts": _each("concepts", _concept, 40),
            "extract_events": _each("events", _event, 30),
            "confirm_merge": _pairs("verdicts", {"verdict": "same", "confidence": 90}),
            "align_concepts": _pairs("alignments", {"relation": "implies", "confidence": 90}),
            "align_events": _pairs("alignments", {"relation": "implies", "confidence": 90}),
            "role_probability": _pairs(
                "probabilities", {"probability": 70, "context_sensitive": False}
            ),
        }
    )


def prompts(
    model: ScriptedModel,
    *,
    batching: Batching | None = None,
    programs: Mapping[str, Program] | None = None,
) -> IndexPrompts:
    """Bind the shipped programs to one model, with an encoder that goes by letters."""
    return IndexPrompts.of(programs or load_programs(), lambda _role: model, Letters(), batching)


def _each(field: str, make: Callable[[str, str], Any], most: int) -> Callable[[ModelRequest], Any]:
    def reply(request: ModelRequest) -> Any:
        segments = given(request)["segments"]
        return {field: [make(s["id"], s["text"]) for s in segments][:most]}

    return reply


def _pairs(field: str, verdict: Mapping[str, Any]) -> Callable[[ModelRequest], Any]:
    def reply(request: ModelRequest) -> Any:
        return {field: [{"pair": p["id"], **verdict} for p in given(request)["pairs"]]}

    return reply


def _statement(segment: str, text: str) -> dict[str, Any]:
    said = {"kind": "claim", "profile": "hypothesis", "cue": "", "confidence": 80}
    return {"segment": segment, "quote": text[:240].strip(), **said}


def _concept(segment: str, text: str) -> dict[str, Any]:
    said = {"kind": "concept", "broader": f"kind of {_word(text)}"}
    return {"segment": segment, "quote": _word(text), **said}


def _event(segment: str, text: str) -> dict[str, Any]:
    said = {"participants": [], "negated": False, "artifact": False, "confidence": 90}
    return {"segment": segment, "trigger": _word(text), "type": "happening", **said}


def _values(request: ModelRequest) -> Any:
    """Say of every pronoun that it stands for the longest word of the segment before."""
    values = []
    for one, other in pairwise(given(request)["segments"]):
        if found := _PRONOUN.search(other["text"]):
            said = {"field": "entities", "name": found.group(), "value": "", "confidence": 90}
            place = {"segment": other["id"], "source": one["id"], "quote": _word(one["text"])}
            values.append({**said, **place})
    return {"values": values[:40]}


def _verdicts(request: ModelRequest) -> Any:
    verdict = {"label": "sufficient", "missing": []}
    return {"verdicts": [{"segment": s["id"], **verdict} for s in given(request)["segments"]]}


def _word(text: str) -> str:
    words = re.findall(r"[A-Za-z]{3,}", text) or re.findall(r"\w+", text) or [text[:1]]
    return str(max(words, key=len))[:100]
