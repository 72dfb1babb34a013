"""The promises that hold for every test are kept."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from abstrag.stores.open import default_store_path
from tests.conftest import HERE, SLOW

CONFTEST = Path(__file__).with_name("conftest.py")
SAMPLE = """
import pytest

def test_passes():
    pass

@pytest.mark.skip(reason="needs a browser")
def test_is_marked():
    pass

def test_skips_itself():
    pytest.skip("needs a database")

@pytest.mark.xfail(reason="known", strict=True)
def test_is_expected_to_fail():
    assert False
"""
SKIPPED_MODULE = 'import pytest\npytest.skip("needs a GPU", allow_module_level=True)\n'


def run_pytest(folder: Path, source: str, **environment: str) -> subprocess.CompletedProcess[str]:
    shutil.copy(CONFTEST, folder / "conftest.py")
    shutil.copy(HERE / "slow.txt", folder)
    (folder / "test_sample.py").write_text(source)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    kept = {name: value for name, value in os.environ.items() if name != "ABSTRAG_NO_SKIPS"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_sample.py"],
        cwd=folder,
        env=kept | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_skip_is_a_skip_by_default(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, SAMPLE)
    assert done.returncode == 0, done.stdout
    assert "1 passed, 2 skipped, 1 xfailed" in done.stdout


def test_a_skip_is_a_failure_where_none_may_be(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, SAMPLE, ABSTRAG_NO_SKIPS="1")
    assert done.returncode == 1, done.stdout
    assert "1 failed, 1 passed, 1 xfailed, 1 error" in done.stdout
    assert "needs a browser (ABSTRAG_NO_SKIPS is set" in done.stdout
    assert "needs a database (ABSTRAG_NO_SKIPS is set" in done.stdout


def test_a_module_that_skips_itself_is_a_failure_too(tmp_path: Path) -> None:
    assert "1 skipped" in run_pytest(tmp_path, SKIPPED_MODULE).stdout
    done = run_pytest(tmp_path, SKIPPED_MODULE, ABSTRAG_NO_SKIPS="1")
    assert done.returncode == 2, done.stdout
    assert "needs a GPU (ABSTRAG_NO_SKIPS is set" in done.stdout


@pytest.mark.parametrize("host", ["192.0.2.1", "example.org", "2001:db8::1"])
def test_no_test_reaches_another_machine(host: str) -> None:
    with pytest.raises(Exception, match="a test may not"):
        socket.create_connection((host, 80), timeout=0.1)


def test_no_test_sends_a_datagram_to_another_machine() -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
        pytest.raises(Exception, match="a test may not"),
    ):
        sender.sendto(b"hello", ("192.0.2.1", 9))


def test_a_test_reaches_its_own_machine() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("localhost", port), timeout=5) as client:
            assert client.getpeername()[1] == port


def test_every_test_has_a_store_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    assert default_store_path().is_relative_to(tmp_path_factory.getbasetemp())
    assert not default_store_path().exists()


def test_what_is_listed_as_slow_is_there() -> None:
    assert [name for name in SLOW if not (HERE / name).exists()] == []
    assert list(SLOW) == sorted(set(SLOW), key=SLOW.index)
