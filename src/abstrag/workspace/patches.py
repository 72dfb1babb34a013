"""What refinement has taught: patches in force, and the log of everything that was tried."""

from __future__ import annotations

from collections.abc import Hashable
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from abstrag.engine.kept import Kept
from abstrag.model.index import DocumentIndex
from abstrag.model.patch import Patch
from abstrag.policy.audit import LOG_NAME, AuditEntry
from abstrag.policy.location import policy_root
from abstrag.policy.store import PolicyStore

if TYPE_CHECKING:
    from abstrag.refine.ledger import Ledger


class Patches:
    """The patches of one policy folder, by the text they are for.

    The log is read again only when it has changed, for every search asks what is in force.
    """

    def __init__(self, root: Path | None = None) -> None:
        self._root = policy_root(root)
        self._kept: Kept[dict[str, tuple[Patch, ...]]] = Kept(1)
        self._writing = Lock()

    @property
    def ledger(self) -> Ledger:
        """The ledger that refinement reads and writes."""
        from abstrag.refine.ledger import Ledger

        return Ledger(PolicyStore.open(self._root))

    def in_force(self, index: DocumentIndex) -> tuple[Patch, ...]:
        """Return the patches that were accepted for a document's text and not taken back."""
        version = self._version()
        if version is None:
            return ()
        known = self._kept.get(version, self._by_text)
        return known.get(sha256(index.document.text.encode()).hexdigest(), ()) if known else ()

    def log(self) -> tuple[AuditEntry, ...]:
        """Return everything that was tried, oldest first."""
        return PolicyStore.open(self._root).entries()

    def revert(self, name: str) -> AuditEntry:
        """Take back a patch, or a promoted edit of a program."""
        with self._writing:
            store = PolicyStore.open(self._root)
            if any(entry.payload["id"] == name for entry in store.changes()):
                return store.revert(name)
            return self.ledger.revert(name)

    def _version(self) -> Hashable | None:
        try:
            seen = (self._root / LOG_NAME).stat()
        except OSError:
            return None
        return seen.st_mtime_ns, seen.st_size

    def _by_text(self) -> dict[str, tuple[Patch, ...]]:
        found: dict[str, tuple[Patch, ...]] = {}
        for kept in self.ledger.kept():
            found[kept.document] = (*found.get(kept.document, ()), kept.patch)
        return found
