"""Which prompt programs there are, which refinement may edit, and where the store has them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import Final

from platformdirs import user_data_dir

from abstrag.errors import PolicyError
from abstrag.model.patch import Stage

# Which prompt programs there are, and which of them refinement may edit (appendix M).
#
# The split is fixed in code and not in the files: a store that could declare the critic editable
# could teach the critic to approve of it.

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
    "read_query",
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


POLICY_VARIABLE: Final = "ABSTRAG_POLICY"
DEFAULT_FAMILY: Final = "default"
LOG_NAME: Final = "log.jsonl"  # everything that was tried, of all families
BASE: Final = "_base"  # the baseline that every family overrides; only people write there
BACKUP: Final = ".backup"

_FAMILY: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")


def policy_root(root: Path | None = None) -> Path:
    """Return the folder given, else the one in `ABSTRAG_POLICY`, else the user's own."""
    if root is not None:
        return root
    if chosen := os.environ.get(POLICY_VARIABLE):
        return Path(chosen).expanduser()
    return Path(user_data_dir("abstrag", appauthor=False)) / "policy"


def shipped_program(stage: str) -> Traversable:
    """Return the file of a program as it comes with the package."""
    return files("abstrag.policy") / "programs" / BASE / f"{stage}.json"


def family_folder(root: Path, family: str) -> Path:
    """Return the folder of a family, whose name must not lead anywhere else."""
    if family != BASE and not _FAMILY.fullmatch(family):
        raise PolicyError(
            f"{family!r} is no name for a family",
            hint="use small letters, digits, dots, dashes and underscores",
        )
    return root / family


def families(root: Path) -> tuple[str, ...]:
    """List the families that have a folder, sorted; the shared baseline is none of them."""
    if not root.is_dir():
        return ()
    names = (path.name for path in root.iterdir() if path.is_dir())
    return tuple(sorted(name for name in names if _FAMILY.fullmatch(name)))
