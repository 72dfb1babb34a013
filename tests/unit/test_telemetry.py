import subprocess
import sys

PROGRAM = """
import sys
from abstrag import AbstRAG

with AbstRAG.from_text("The lock was closed in May.", preset="fast") as rag:
    assert rag.search("When was the lock closed?").hits
assert not [name for name in sys.modules if name.startswith("opentelemetry")]
"""


def test_nothing_is_imported_where_nobody_records_spans() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
