"""A wire to a PostgreSQL server on which somebody counts how often we say something and wait."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

_SOCKET: Final = ".s.PGSQL.5432"
_AT_ONCE: Final = 1 << 16


class Wire:
    """Passes on what a client and its server say, and counts the turns of the client."""

    def __init__(self, folder: Path, server: Path) -> None:
        self.turns = 0
        self._server = server
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(folder / _SOCKET))
        self._listening.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        """Take no more connections."""
        self._listening.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        with closing(client), closing(socket.socket(socket.AF_UNIX)) as server:
            server.connect(str(self._server / _SOCKET))
            answered = True
            while True:
                for ready in select.select([client, server], [], [])[0]:
                    said = ready.recv(_AT_ONCE)
                    if not said:
                        return
                    self.turns += ready is client and answered
                    answered = ready is server
                    (server if ready is client else client).sendall(said)


@contextmanager
def wire_to(server: Path) -> Iterator[tuple[Wire, Path]]:
    """Lay a wire to the server whose socket is in a folder; yields it and where it begins."""
    with TemporaryDirectory(prefix="wire-") as folder:
        wire = Wire(Path(folder), server)
        try:
            yield wire, Path(folder)
        finally:
            wire.close()
