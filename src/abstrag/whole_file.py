"""Files that are there as a whole or not at all, and that a power failure does not take back."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

_CANNOT: Final = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EBADF})


def write_whole(path: Path, text: str) -> None:
    """Put a file in place, over another one if need be; nobody ever sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = NamedTemporaryFile(  # noqa: SIM115
        "w", dir=path.parent, delete=False, encoding="utf-8", newline="\n"
    )
    draft = Path(file.name)
    try:
        with file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)  # closed by now: Windows removes no open file
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """See that names in a folder outlive a power failure; a rename is only safe when they do.

    Some file systems cannot do that for a folder, and then nobody can.
    """
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        if error.errno in _CANNOT:
            return
        raise
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
    finally:
        os.close(handle)
