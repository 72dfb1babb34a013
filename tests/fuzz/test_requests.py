"""A bounded share of the hunt for requests that break a server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz.wire import Watch, http_mutants, mcp, mcp_http_mutants, pipe_mutants, studio
from tests.unit.server.running import Client

FEW = 40


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Client]]:
    with studio(tmp_path_factory.mktemp("fuzz")) as made:
        yield made


def test_no_mutant_of_a_request_breaks_the_server(served: tuple[Path, Client]) -> None:
    _, client = served
    with Watch().listening() as watch:
        http_mutants(client, watch, range(FEW))
    assert watch.finds == []
    assert sum(watch.answered.values()) == FEW
    assert client.alive()


def test_no_mutant_of_a_call_breaks_mcp_over_http(served: tuple[Path, Client]) -> None:
    store, _ = served
    with mcp(store) as client, Watch().listening() as watch:
        mcp_http_mutants(client, watch, range(FEW))
    assert watch.finds == []
    assert 0 not in watch.answered  # a sound request is answered, whatever its body says


def test_no_mutant_of_a_line_silences_mcp_over_a_pipe(served: tuple[Path, Client]) -> None:
    store, _ = served
    watch = Watch()
    pipe_mutants(store, watch, range(FEW))
    assert watch.finds == []
