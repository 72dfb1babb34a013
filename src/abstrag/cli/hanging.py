"""A console whose long lines go on below where their text begins, at any width."""

from __future__ import annotations

import re
from typing import Any, Final

from rich.console import Console
from rich.text import Text

# the spaces a line begins with, or a short label with two spaces or more behind it
_LEAD: Final = re.compile(r" *(?:\S{1,10}(?: \S{1,10})? {2,})?")


class HangingConsole(Console):
    """Breaks a line of text so that what follows stands under its beginning, not at the margin."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as usual; a single string that is too wide is broken under its beginning."""
        if len(objects) == 1 and isinstance(objects[0], str) and not options:
            text = self.render_str(objects[0], highlight=False)
            objects = (hung(self, text),)
        super().print(*objects, **options)


def hung(console: Console, text: Text) -> Text:
    """Return a text whose lines fit the console; one that is broken goes on under its beginning."""
    lines = [_hung(console, line) for line in text.split("\n", allow_blank=True)]
    return Text("\n").join(lines)


def _hung(console: Console, line: Text) -> Text:
    if line.cell_len <= console.width:
        return line
    lead = _LEAD.match(line.plain)
    indent = lead.end() if lead else 0
    if indent > console.width // 2:  # too narrow to stand apart
        return line
    body = line[indent:].wrap(console, console.width - indent)
    made = line[:indent]
    for number, part in enumerate(body):
        part.rstrip()
        made.append_text(Text("\n" + " " * indent) + part if number else part)
    return made
