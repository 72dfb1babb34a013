"""What is done to plain files: the policy folder, edits by hand, the quarantine, and uploads."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from abstrag.engine.library import Quarantine
from abstrag.errors import AbstragError
from abstrag.model.term import Edge, Family, Relation
from abstrag.policy.check import check
from abstrag.policy.files import DurableFiles
from abstrag.policy.store import PolicyStore
from abstrag.server.studio import Uploads
from abstrag.workspace.options import LICENCE, OPERATOR, EditStore
from tests.faults.plain_disk import PlainDisk, PowerCut, plain_files_on
from tests.faults.sqlite_disk import Fault
from tests.unit.policy.samples import OTHER_RULE, RULE, harmless, opened, rule, vote

_PIECES = (b"# Harbour\n\n", b"The port leased Pier 4.\n" * 50)


@dataclass(frozen=True)
class PlainStory:
    """Steps that each leave something behind, and how to see that it is there."""

    open: Callable[[Path], Any]
    steps: tuple[Callable[[Any], object], ...]
    holds: Callable[[Any, int], bool]  # that the first n steps have left what they should
    sound: Callable[[Path], None] = lambda _folder: None


def _edge(name: str) -> Edge:
    return Edge(
        f"concept:{name}",
        "concept:port",
        Relation.IMPLIES,
        Family.CONCEPT,
        OPERATOR,
        0.5,
        0.1,
        False,
        1.0,
        LICENCE,
    )


def _edits_hold(store: EditStore, steps: int) -> bool:
    names = [edge.source for edge in store.read("chips").edges]
    return all(f"concept:{i}" in names for i in range(steps))


def _add_edge(number: int) -> Callable[[EditStore], object]:
    return lambda store: store.add("chips", _edge(str(number)))


def _set_aside(number: int) -> Callable[[Quarantine], object]:
    return lambda kept: kept.add(f"{number:064d}", f"/{number}.pdf", "too large")


EDITS = PlainStory(
    open=EditStore, steps=tuple(_add_edge(number) for number in range(4)), holds=_edits_hold
)
QUARANTINE = PlainStory(
    open=Quarantine,
    steps=tuple(_set_aside(number) for number in range(4)),
    holds=lambda q, steps: all(q.find(f"{i:064d}") is not None for i in range(steps)),
)


async def _pieces(number: int) -> AsyncIterator[bytes]:
    for piece in (*_PIECES, str(number).encode()):
        yield piece


def _upload(number: int) -> Callable[[Uploads], object]:
    return lambda uploads: asyncio.run(uploads.keep(f"{number}.md", _pieces(number)))


def _uploads_hold(uploads: Uploads, steps: int) -> bool:
    kept = {path.name: path.read_bytes() for path in uploads.left_over()}
    whole = all(
        content == b"".join(_PIECES) + name.removesuffix(".md").encode()
        for name, content in kept.items()
    )
    return whole and all(f"{i}.md" in kept for i in range(steps))


UPLOADS = PlainStory(
    open=Uploads, steps=tuple(_upload(number) for number in range(4)), holds=_uploads_hold
)


def _policy(folder: Path) -> PolicyStore:
    # looked up at the call, for the disk is put in its place later
    return opened(folder, k=1, files=DurableFiles(sync=lambda handle: os.fsync(handle)))


def _policy_holds(store: PolicyStore, steps: int) -> bool:
    texts = [entry.payload.get("text") for entry in store.entries()]
    rules = store.program("normalize_entities").rules
    voted = all(text in texts for text in (RULE, OTHER_RULE)[: (steps + 1) // 2])
    return voted and all(text in rules for text in (RULE, OTHER_RULE)[: steps // 2])


def _policy_sound(folder: Path) -> None:
    assert not check(folder), check(folder)


POLICY = PlainStory(
    open=_policy,
    steps=(
        lambda store: vote(store, rule(RULE), "c1"),
        lambda store: store.promote(harmless),
        lambda store: vote(store, rule(OTHER_RULE), "c1"),
        lambda store: store.promote(harmless),
    ),
    holds=_policy_holds,
    sound=_policy_sound,
)


def injected(story: PlainStory, folder: Path, fault: Fault) -> int:
    """Let a fault strike at every call of a story; return how many did."""
    whole = PlainDisk(folder / "whole", fault)
    _tell(story, whole)
    struck = 0
    for at in range(1, whole.calls + 1):
        disk = PlainDisk(folder / f"{at}", fault, at)
        done = _tell(story, disk)
        disk.forget_unsynced()
        struck += disk.struck
        where = f"{fault.name} at call {at} of {whole.calls}"
        kept = story.open(disk.folder)
        assert story.holds(kept, done), f"{where}: what {done} steps left is not there"
        story.sound(disk.folder)
        for step in story.steps[done:]:
            with suppress(AbstragError):  # done already, though nobody had heard of it
                step(kept)
        assert story.holds(story.open(disk.folder), len(story.steps)), f"{where}: it cannot go on"
    return struck


def _tell(story: PlainStory, disk: PlainDisk) -> int:
    """Run a story on a disk and return how many steps reported that they were done."""
    disk.folder.mkdir(parents=True)
    done = 0
    with plain_files_on(disk), suppress(PowerCut, AbstragError, OSError):
        kept = story.open(disk.folder)
        for step in story.steps:
            step(kept)
            done += 1
    return done
