"""Feedback of a person on hits and on single steps, as episodes and as prices."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from abstrag.config import MAX_GAP, OMEGA
from abstrag.errors import FileMissing, InputError
from abstrag.model.patch import Patch, Stage, StepPrice
from abstrag.model.record import Result, from_json, record
from abstrag.model.term import Family, Licence, LicenceKind


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


CONFIRMED: Final = OMEGA["expression"]  # at most: another word for the same
REFUSED: Final = MAX_GAP  # at least: the word is as good as not there


@record
class SaidStep:
    """A step from a word of a text to a word of a query: "visit" for "collaboration"."""

    asked: str
    said: str
    family: Family | None = None  # of the step that was shown; None: however it is made


@record
class Feedback(Result):
    """What a person says about one query: which segments are evidence, which steps are right.

    Segments are named by id or by their exact words.
    """

    query: str
    good: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    right: tuple[SaidStep, ...] = ()
    wrong: tuple[SaidStep, ...] = ()

    def __post_init__(self) -> None:
        if not self.query.strip():
            raise InputError("feedback needs the query it is about")
        if not (self.good or self.bad or self.right or self.wrong):
            raise InputError(
                "feedback says nothing",
                hint="name a segment that is evidence (--good s12) or is none (--bad s3), or a step"
                " (--right asked=said, --wrong asked=said)",
            )
        if both := sorted(set(self.good) & set(self.bad)):
            raise InputError(f"feedback calls {both[0]!r} both good and bad")
        if same := sorted(set(self.right) & set(self.wrong), key=repr):
            said = f"{same[0].said} → {same[0].asked}"
            raise InputError(f"feedback calls the step {said!r} both right and wrong")


@record
class Noted(Result):
    """The result of feedback: an episode, and a patch for every step."""

    document: str
    episode: str  # its id in the log
    feedback: Feedback
    patches: tuple[Patch, ...] = ()  # in force from now on
    refused: tuple[str, ...] = ()  # steps that cannot be priced, and why
    patch_ids: tuple[str, ...] = ()  # by which the patches can be taken back


def parse_step(text: str) -> SaidStep:
    """Read `asked=said`, as a command line gives it."""
    asked, equals, said = (part.strip() for part in text.partition("="))
    if not (equals and asked and said):
        raise InputError(
            f"{text!r} is no step", hint="ASKED=SAID, for instance collaboration=visit"
        )
    return SaidStep(asked, said)


def step_patches(feedback: Feedback) -> list[Patch]:
    """Return the prices that feedback on steps sets."""
    made = [_patch(step, right=True) for step in feedback.right]
    return made + [_patch(step, right=False) for step in feedback.wrong]


def _patch(step: SaidStep, *, right: bool) -> Patch:
    stage = Stage.EVENT if step.family is Family.EVENT else Stage.MAP
    if right:
        delta = StepPrice(step.asked, step.said, at_most=CONFIRMED)
    else:
        delta = StepPrice(step.asked, step.said, at_least=REFUSED, family=step.family)
    said = "right" if right else "wrong"
    licence = Licence(LicenceKind.PATCH, f"a person calls this step {said}")
    return Patch(stage, delta, licence, OMEGA[Family.RELATED])


def merged(said: Sequence[Feedback]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the good and the bad segments of several feedbacks; the last word on each counts."""
    verdicts: dict[str, bool] = {}
    for one in said:
        verdicts |= dict.fromkeys(one.good, True) | dict.fromkeys(one.bad, False)
    good = tuple(name for name, verdict in verdicts.items() if verdict)
    return good, tuple(name for name, verdict in verdicts.items() if not verdict)
