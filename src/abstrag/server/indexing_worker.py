"""The process that indexes: parsing holds the interpreter, so searches are served by another one.

It reads one request a line, JSON, from its standard input and answers with lines of JSON: a line
for every step and one at the end. It ends when its input does.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TextIO

from abstrag.config import Settings
from abstrag.engine.library import Library
from abstrag.errors import AbstragError
from abstrag.indexing.pipeline import standard_chain
from abstrag.server.refusals import told
from abstrag.stores.open import open_store

READING: Final = "read"
STEPS: Final = (READING, *(operator.name for operator in standard_chain().operators))
_NICE: Final = 5  # searches go first


def main() -> None:
    """Serve requests until the input ends."""
    answers = _own_output()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us
    with suppress(OSError):
        os.nice(_NICE)
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        _put(answers, _indexed(request, answers))


def _indexed(request: dict[str, Any], answers: TextIO) -> dict[str, Any]:
    def step(name: str) -> None:
        _put(answers, {"step": name, "done": STEPS.index(name), "total": len(STEPS)})

    step(READING)
    settings = Settings(max_file_bytes=request["max_bytes"])
    try:
        with open_store(request["store"]) as store:
            outcome = Library(store, None, settings, step).index_file(Path(request["path"]))
    except AbstragError as error:
        return {"error": told(error)}
    except Exception as error:  # a broken file must not end the process, and must be told
        failed = AbstragError(
            f"{Path(request['path']).name!r} cannot be indexed: {type(error).__name__}: {error}"
        )
        return {"error": told(failed)}
    return {"document": outcome.document}


def _own_output() -> TextIO:
    """Take standard output for ourselves; what any library prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _put(answers: TextIO, data: dict[str, Any]) -> None:
    answers.write(json.dumps(data) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
