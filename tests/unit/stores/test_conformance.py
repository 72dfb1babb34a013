"""The embedded store is a store."""

from pathlib import Path

import pytest

from abstrag.stores.sqlite import SqliteStore
from abstrag.testing.stores.conformance import StoreConformance
from abstrag.testing.stores.opening import Opener


class TestSqlite(StoreConformance):
    @pytest.fixture
    def opener(self, tmp_path: Path) -> Opener:
        return lambda: SqliteStore.open(tmp_path / "deep" / "store.db")
