"""How the suite gets at a store: the one thing that its user provides."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from abstrag.stores.protocol import Store

Opener = Callable[[], Store]


class Opening:
    """Opens the store under test; a subclass overrides `opener`."""

    @pytest.fixture
    def opener(self) -> Opener:
        """Return a function that opens the same store each time, an empty one at first."""
        raise NotImplementedError("override the fixture `opener`")

    @pytest.fixture
    def store(self, opener: Opener) -> Iterator[Store]:
        """An empty store."""
        with opener() as opened:
            yield opened
