"""Small makers that the policy tests share: a store with a still clock, edits, votes, faults."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from abstrag.llm.prompt import Program
from abstrag.model.patch import EditOp, PromptEdit
from abstrag.policy.audit import AuditEntry
from abstrag.policy.edit import CaseText
from abstrag.policy.files import DurableFiles
from abstrag.policy.store import PolicyStore

STAGE = "normalize_entities"
RULE = "A branch of an institution is different from the institution."
OTHER_RULE = "Two spellings that differ by an accent are one name."
NO_TEXT = CaseText("")


def unsynced(point: Callable[[str], None] = lambda _where: None) -> DurableFiles:
    """Return files that do not wait for the disk: a killed process loses nothing by that."""
    return DurableFiles(point, sync=lambda _handle: None)


def opened(
    root: Path, family: str = "news", *, k: int = 3, files: DurableFiles | None = None
) -> PolicyStore:
    return PolicyStore.open(
        root, family, k=k, now=lambda: "2024-05-15T12:00:00+00:00", files=files or unsynced()
    )


def rule(text: str = RULE, op: EditOp = EditOp.ADD_RULE, base_hash: str = "") -> PromptEdit:
    return PromptEdit(STAGE, op, text, base_hash)


def vote(store: PolicyStore, edit: PromptEdit, *cases: str) -> list[AuditEntry]:
    return [store.propose(edit, case=case, patch=f"patch-{case}", text=NO_TEXT) for case in cases]


def harmless(_program: Program) -> Sequence[str]:
    return ()


def promoted(store: PolicyStore, edit: PromptEdit | None = None) -> AuditEntry:
    """Vote an edit through and return its promotion."""
    vote(store, edit or rule(), "c1", "c2", "c3")
    (entry,) = store.promote(harmless)
    return entry


def main_path(store: PolicyStore, stage: str = STAGE) -> Path:
    return store.root / store.family / f"{stage}.json"


def write_by_hand(store: PolicyStore, rules: Sequence[str], stage: str = STAGE) -> bytes:
    """Save a program file as a person would, and return its bytes."""
    path = main_path(store, stage)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = json.dumps({"rules": list(rules)}, indent=4).encode()
    path.write_bytes(content)
    return content
