"""One server for all the tests in this folder, and a schema of its own for each of them."""

from collections.abc import Iterator
from itertools import count

import pytest

from tests.unit.stores.postgres.server import PostgresServer, missing, running

_schemas = count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    """A server that stays up; skips where there is none to be had."""
    if why := missing():
        pytest.skip(why)
    with running() as started:
        yield started


@pytest.fixture(scope="session")
def own_server() -> Iterator[PostgresServer]:
    """A server that a test may take down, as long as it starts it again."""
    if why := missing():
        pytest.skip(why)
    with running(own_programs=True) as started:
        yield started


@pytest.fixture
def address(server: PostgresServer) -> str:
    """The address of a store that nobody has made yet."""
    return server.address(schema=f"library_{next(_schemas)}")


@pytest.fixture
def own_address(own_server: PostgresServer) -> str:
    """The address of such a store on the server that may be taken down."""
    return own_server.address(schema=f"library_{next(_schemas)}")
