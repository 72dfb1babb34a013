"""How a server logs: sentences for a person, or one JSON object a line for a program.

Neither holds the words of a query or a document.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any


class LogForm(StrEnum):
    """What a line of the log looks like."""

    TEXT = "text"  # warnings and errors
    JSON = "json"  # every request as well


class JsonLines(logging.Formatter):
    """Writes a record as one JSON object: when, how grave, by whom, what, and its fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False)


def set_up_logs(form: LogForm) -> None:
    """Let this process log to standard error in a form."""
    handler = logging.StreamHandler()
    if form is LogForm.JSON:
        handler.setFormatter(JsonLines())
        logging.getLogger("abstrag").setLevel(logging.INFO)
    else:
        handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("bm25s").propagate = False  # it would tell of every index it builds
