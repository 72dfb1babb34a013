"""Where files of the fault tests lie: in memory where that can be, for they are synced for ever."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest

_IN_MEMORY = Path("/dev/shm")


@pytest.fixture
def disk_folder(tmp_path: Path) -> Iterator[Path]:
    if not _IN_MEMORY.is_dir():
        yield tmp_path
        return
    folder = Path(mkdtemp(dir=_IN_MEMORY))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
