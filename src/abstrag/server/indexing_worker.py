"""The process that indexes: parsing holds the interpreter, so searches are served by another one.

It reads lines of JSON from its standard input, first what to open and then one file a line, and
answers with lines of JSON: a line for every step and one at the end. It ends when its input does.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TextIO

from abstrag.config import DocumentBudget, Settings
from abstrag.errors import AbstragError
from abstrag.indexing.pipeline import standard_chain
from abstrag.server.answers import told
from abstrag.workers.protocol import Spent, within
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace

READING: Final = "read"
STEPS: Final = (READING, *(operator.name for operator in standard_chain().operators))
_NICE: Final = 5  # searches go first


def main() -> None:
    """Serve requests until the input ends."""
    answers = _own_output()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us
    with suppress(OSError):
        os.nice(_NICE)
    indexer: UploadIndexer | None = None
    for line in sys.stdin:
        said: dict[str, Any] = json.loads(line)
        if indexer is None:
            settings = Settings(max_file_bytes=said["max_bytes"])
            budget = DocumentBudget(**said["budget"])
            config = WorkspaceConfig(said["store"], settings=settings, budget=budget)
            indexer = UploadIndexer(config, answers)
        else:
            _put(answers, indexer.index(Path(said["path"]), retry=said["retry"]))
    if indexer is not None:
        indexer.close()


class UploadIndexer:
    """Indexes one file after the other into a store that it opens once."""

    def __init__(self, config: WorkspaceConfig, answers: TextIO) -> None:
        self._config = config
        self._answers = answers

    @cached_property
    def _workspace(self) -> Workspace:
        """Opened with the first file, so that a store that cannot be is told as its failure."""
        return Workspace(self._config)

    def index(self, path: Path, *, retry: bool = False) -> dict[str, Any]:
        """Index a file, telling every step, and return the last word on it."""

        def step(name: str) -> None:
            said = {"step": name, "done": STEPS.index(name), "total": len(STEPS)}
            _put(self._answers, said)

        step(READING)
        try:
            library = replace(self._workspace.indexing(step), retry=retry)
            with within(self._config.budget):
                outcome = library.index_file(path)
        except Spent as spent:
            return {"spent": spent.why}
        except AbstragError as error:
            return {"error": told(error)}
        except Exception as error:  # a broken file must not end the process, and must be told
            failed = AbstragError(
                f"{path.name!r} cannot be indexed: {type(error).__name__}: {error}"
            )
            return {"error": told(failed)}
        return {"document": outcome.document}

    def close(self) -> None:
        """Let go of the store."""
        if "_workspace" in self.__dict__:
            self._workspace.close()


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
