"""The background resource B: what the user knows and the document does not say."""

from __future__ import annotations

import json
import tomllib
from dataclasses import field
from pathlib import Path

from abstrag.errors import BackgroundError, InputError
from abstrag.model.record import from_json, record


@record
class EventRule:
    """An event schema: seeing `source` may be read as `target`, with these slots."""

    source: str
    target: str
    slots: tuple[str, ...] = ("who", "whom")
    artifact: bool = False


@record
class Background:
    """Alias dictionaries, classes, role taxonomies, event schemas, time anchors, novelty terms.

    Empty by default. What B states about names and classes is a premise and costs nothing; an
    event rule is a matter of typicality and is paid for.
    """

    aliases: dict[str, tuple[str, ...]] = field(default_factory=dict)  # name → its other names
    classes: dict[str, tuple[str, ...]] = field(default_factory=dict)  # thing → classes it is in
    roles: dict[str, tuple[str, ...]] = field(default_factory=dict)  # office → types of person
    events: tuple[EventRule, ...] = ()
    anchors: dict[str, str] = field(default_factory=dict)  # expression → ISO date or start/end
    known: tuple[str, ...] = ()  # terms that are not news: Nov(x | B) = 0
    name: str = "background"
    compiled: str = ""  # the compiled file this is a part of, where it is one

    @classmethod
    def load(cls, path: str | Path) -> Background:
        """Read a TOML or JSON file."""
        path = Path(path)
        try:
            text = path.read_text("utf-8")
        except FileNotFoundError:
            raise BackgroundError(
                f"no Background file at {str(path)!r}", hint="check the path after --background"
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            raise BackgroundError(
                f"Background file {str(path)!r} cannot be read: {error}"
            ) from error
        try:
            data = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
        except ValueError as error:
            raise BackgroundError(
                f"Background file {str(path)!r} is neither TOML nor JSON: {error}"
            ) from error
        data.setdefault("name", path.name)
        try:
            return from_json(cls, json.dumps(data))
        except InputError as error:
            raise BackgroundError(
                f"Background file {str(path)!r}: {error}",
                hint="tables: aliases, classes, roles, anchors; arrays: events, known",
            ) from error


EMPTY = Background()
