"""Which prompt programs there are, and which of them refinement may edit (appendix M).

The split is fixed in code and not in the files: a store that could declare the critic editable
could teach the critic to approve of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from abstrag.errors import PolicyError
from abstrag.model.patch import Stage

# program → the stage of Ξ whose patches may carry an edit of it
MUTABLE: Final[Mapping[str, Stage]] = MappingProxyType(
    {
        "lift_context": Stage.CONTEXT,
        "normalize_entities": Stage.MAP,
        "extract_concepts": Stage.MAP,
        "align_concepts": Stage.MAP,
        "extract_events": Stage.EVENT,
        "align_events": Stage.EVENT,
        "normalize_query": Stage.QUERY,
    }
)
FIXED: Final = (
    "coreference",
    "extract_statements",
    "entailment",
    "truth_eval",
    "confirm_merge",
    "role_probability",
    "expand_query",
    "critic",
    "explain",
    "localize",
    "refine",
    "answer",
    "verdict",
    "hyde",
    "ircot",
    "self_rag",
    "crag",
)
PROGRAMS: Final = (*MUTABLE, *FIXED)


def known(stage: str) -> str:
    """Return the name of a program, or refuse one that does not exist."""
    if stage not in PROGRAMS:
        raise PolicyError(f"there is no program {stage!r}", hint=f"one of: {', '.join(PROGRAMS)}")
    return stage
