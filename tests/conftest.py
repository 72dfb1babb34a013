"""What holds for every test: no network, a data folder of its own, and no skips where none may be.

With `ABSTRAG_NO_SKIPS=1` a skipped test is a failure; continuous integration sets it, because it
installs whatever a test could be skipped for.
"""

import os
import signal
import socket
from collections.abc import Callable, Generator
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

NO_SKIPS = "ABSTRAG_NO_SKIPS"
HERE = Path(__file__).parent
SLOW = tuple(
    line for line in (HERE / "slow.txt").read_text("utf-8").splitlines() if not line.startswith("#")
)
_MODEL_SETTINGS = (  # beginnings of names
    "ABSTRAG_LLM",
    "ABSTRAG_BASE_URL",
    "ABSTRAG_API_KEY",
    "ABSTRAG_CONFIG",
    "ABSTRAG_CALLS",
    "ABSTRAG_POLICY",
    "OPENAI_",
)


def pytest_configure() -> None:
    """Let no test fail because the machine was busy, or because the shell ignores Ctrl-C for us.

    A shell does so for what it starts in the background. Some environments have no hypothesis.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if find_spec("hypothesis") is not None:
        from hypothesis import settings

        settings.register_profile("untimed", deadline=None)
        settings.load_profile("untimed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `slow.txt` lists."""
    for item in items:
        if item.path.is_relative_to(HERE):
            name = item.path.relative_to(HERE).as_posix()
            if name.startswith(SLOW):
                item.add_marker("slow")


class NetworkRefused(Exception):
    """A test tried to leave this machine; no OSError, lest the code under test take it for one."""


def is_local(host: object) -> bool:
    """Tell whether a host name or address is this machine's own."""
    if host in (None, "", "localhost", b"localhost"):
        return True
    try:
        return ip_address(str(host)).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection and look-up that leaves this machine."""

    def guarded(name: str) -> Callable[..., Any]:
        original = getattr(socket.socket, name)

        def call(self: socket.socket, *arguments: Any) -> Any:
            address = arguments[-1]  # connect(address), sendto(data, address)
            if self.family in (socket.AF_INET, socket.AF_INET6) and not is_local(address[0]):
                raise NetworkRefused(f"a test may not reach {address!r}")
            return original(self, *arguments)

        return call

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, guarded(name))
    look_up = socket.getaddrinfo

    def getaddrinfo(host: Any, *arguments: Any, **options: Any) -> Any:
        if not is_local(host):
            raise NetworkRefused(f"a test may not look up {host!r}")
        return look_up(host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


@pytest.fixture(autouse=True)
def own_data_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Keep data, configuration and models of every test apart from the user's and each other's."""
    folder = tmp_path_factory.mktemp("data")
    for name in os.environ:
        if (
            name.startswith(("ABSTRAG_LLM", "ABSTRAG_BASE_URL", "OPENAI_"))
            or name in _MODEL_SETTINGS
        ):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    # a process of its own for every file would take a second each; tests of that unset it
    monkeypatch.setenv("ABSTRAG_IN_PROCESS", "1")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    monkeypatch.setenv("ABSTRAG_STORE", str(folder / "store.db"))


def refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure that gives the reason; an expected failure is no skip."""
    if os.environ.get(NO_SKIPS) != "1" or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    report.outcome = "failed"
    report.longrepr = f"{reason} ({NO_SKIPS} is set, so nothing may be skipped)"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Look at every test's report."""
    report = yield
    refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Look at every module's report: a module can skip itself as a whole."""
    report = yield
    refuse_skip(report)
    return report
