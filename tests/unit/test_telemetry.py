import subprocess
import sys

import pytest

from abstrag.errors import InputError
from abstrag.telemetry import span, watch

PROGRAM = """
import sys
from abstrag import AbstRAG

with AbstRAG.from_text("The lock was closed in May.", preset="fast") as rag:
    assert rag.search("When was the lock closed?").hits
assert not [name for name in sys.modules if name.startswith("opentelemetry")]
"""


def test_nothing_is_imported_where_nobody_records_spans() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)


def test_whoever_watches_is_told_of_work_and_whether_it_failed() -> None:
    told: list[tuple[str, bool]] = []
    end = watch(lambda work, seconds, failed: told.append((work, failed and seconds >= 0)))
    with span("abstrag.search", {}):
        pass
    with pytest.raises(InputError), span("chat some-model", {}):
        raise InputError("no")
    end()
    with span("abstrag.search", {}):
        pass
    assert told == [("abstrag.search", False), ("chat", True)]
