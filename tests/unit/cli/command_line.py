"""The command line as tests call it: in this process, with its exit code and what it printed."""

import pytest

from abstrag.cli.main import main


def run(capsys: pytest.CaptureFixture[str], *args: object) -> tuple[int, str, str]:
    """Run a command line and return its exit code and what it printed."""
    code = 0
    try:
        main([str(a) for a in args])
    except SystemExit as done:
        code = int(done.code or 0)
    out, err = capsys.readouterr()
    return code, out, err


def printed(capsys: pytest.CaptureFixture[str], *args: object, code: int = 0) -> str:
    """Run a command line that ends with an exit code and return all that it printed."""
    done, out, err = run(capsys, *args)
    assert done == code, err
    return out + err
