"""One local server for all the tests in this folder."""

from collections.abc import Iterator

import pytest

from tests.local_server.server import LocalServer, missing, running


@pytest.fixture(scope="session")
def local_server() -> Iterator[LocalServer]:
    """Serve SmolLM2-135M on loopback; skips where it is not installed."""
    if why := missing():
        pytest.skip(why)
    with running() as server:
        yield server
