"""Episodes: queries to refine on, one JSON line each, with gold segments where somebody knows."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from abstrag.errors import FileMissing, InputError
from abstrag.model.record import from_json, record


@record
class Episode:
    """One query about one document.

    `gold` lists the segments that are its evidence, by id or by their exact words, `bad` segments
    that are none whatever the evaluator says. Without gold, the evaluator says what is evidence.
    """

    target: str
    query: str
    gold: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The same for the same question about the same document."""
        return sha256(f"{self.target}\n{self.query}".encode()).hexdigest()[:12]


def read_episodes(path: Path) -> tuple[Episode, ...]:
    """Read an episode file, one JSON object a line; blank lines are skipped.

    Raises:
        FileMissing: There is no such file.
        InputError: A line is no episode, a question comes twice, or there is none.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except FileNotFoundError:
        raise FileMissing(f"no episode file at {str(path)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"episode file {str(path)!r} cannot be read: {error}") from error
    found: dict[str, Episode] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            episode = from_json(Episode, line)
        except InputError as error:
            raise InputError(
                f"line {number} of {str(path)!r} is no episode: {error}",
                hint='for instance {"target": "report.pdf", "query": "Who paid?", "gold": ["s12"]}',
            ) from error
        if episode.id in found:
            raise InputError(f"line {number} of {str(path)!r} asks {episode.query!r} again")
        found[episode.id] = episode
    if not found:
        raise InputError(f"episode file {str(path)!r} holds no episode")
    return tuple(found.values())
