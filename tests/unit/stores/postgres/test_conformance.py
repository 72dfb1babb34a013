"""The store on a PostgreSQL server is a store."""

import pytest

from abstrag.stores.postgres.store import PostgresStore
from abstrag.testing.stores.conformance import StoreConformance
from abstrag.testing.stores.rules import Opener


class TestPostgres(StoreConformance):
    @pytest.fixture
    def opener(self, address: str) -> Opener:
        return lambda: PostgresStore.open(address)
