"""One server for all tests that only ask, over a store with the bundled article."""

from collections.abc import Iterator

import pytest

from tests.unit.server.running import Client, running, store_with_demo


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    store = store_with_demo(tmp_path_factory.mktemp("studio") / "store.db")
    with running(store) as client:
        yield client
