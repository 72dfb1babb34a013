"""What refinement has taught: patches in force, and the log of everything that was tried."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from abstrag.engine.kept import LruCache
from abstrag.errors import PolicyError
from abstrag.model.index import DocumentIndex
from abstrag.policy.location import DEFAULT_FAMILY, LOG_NAME, policy_root

if TYPE_CHECKING:
    from abstrag.policy.audit import AuditEntry
    from abstrag.policy.store import PolicyStore
    from abstrag.refine.ledger import PatchInForce as KeptPatch
    from abstrag.refine.ledger import PatchLedger

_DOCUMENTS: Final = 256  # whose patches are at hand


class Patches:
    """The patches of one family in one policy folder, by the text they are for.

    The log is read again only when it has changed, for every search asks what is in force.
    """

    def __init__(self, root: Path | None = None, family: str = DEFAULT_FAMILY) -> None:
        self._root = policy_root(root)
        self._family = family
        self._kept: LruCache[tuple[KeptPatch, ...]] = LruCache(_DOCUMENTS)
        self._writing = Lock()

    @property
    def root(self) -> Path:
        """The policy folder."""
        return self._root

    @property
    def family(self) -> str:
        """Whose patches these are."""
        return self._family

    @property
    def policy(self) -> PolicyStore:
        """The policy store behind them."""
        from abstrag.policy.store import PolicyStore

        return PolicyStore.open(self._root, self._family)

    @property
    def ledger(self) -> PatchLedger:
        """The ledger that refinement reads and writes."""
        from abstrag.refine.ledger import PatchLedger

        return PatchLedger(self.policy)

    def in_force(self, index: DocumentIndex) -> tuple[KeptPatch, ...]:
        """Return the patches that were accepted for a document's text and not taken back.

        Raises:
            PolicyError: The log cannot be read.
        """
        version = self._version()
        if version is None:
            return ()
        from abstrag.refine.ledger import text_hash

        place = version, text_hash(index), index.genre
        try:
            return self._kept.get(place, lambda: self.ledger.in_force(index))
        except PolicyError as error:
            hint = "--no-patches searches without what refinement has kept"
            raise type(error)(
                str(error), hint=f"{error.hint}; {hint}" if error.hint else hint
            ) from error

    def log(self) -> tuple[AuditEntry, ...]:
        """Return everything that was tried, oldest first."""
        return self.policy.entries()

    def revert(self, name: str) -> AuditEntry:
        """Take back a patch, or a promoted edit of a program."""
        with self._writing:
            store = self.policy
            if any(entry.payload["id"] == name for entry in store.changes()):
                return store.revert(name)
            return self.ledger.revert(name)

    def _version(self) -> Hashable | None:
        try:
            seen = (self._root / LOG_NAME).stat()
        except OSError:
            return None
        return seen.st_mtime_ns, seen.st_size
