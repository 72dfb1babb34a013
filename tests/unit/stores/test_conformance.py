"""The embedded store is a store, in a file and in memory."""

from pathlib import Path

import pytest

from abstrag.stores.sqlite import SqliteStore
from abstrag.testing.stores.conformance import ModelRules, StoreConformance, VersionRules
from abstrag.testing.stores.rules import KeptRules, Opener, ThreadRules


class TestSqlite(StoreConformance):
    @pytest.fixture
    def opener(self, tmp_path: Path) -> Opener:
        return lambda: SqliteStore.open(tmp_path / "deep" / "store.db")


class TestInMemory(KeptRules, ModelRules, ThreadRules, VersionRules):
    """Whatever does not ask for a store that is opened twice."""

    @pytest.fixture
    def opener(self) -> Opener:
        return lambda: SqliteStore.open(":memory:")
