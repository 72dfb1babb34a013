"""What is done to a store, step by step, so that a fault can strike at any call of any step.

A step is done or it is not: after a fault, whoever opens the file again sees the state before the
step that failed or the one after it, and from there the story goes on to its end.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from abstrag.errors import AbstragError
from abstrag.llm.call import Call
from abstrag.llm.log import CallLog
from abstrag.model.index import DocumentIndex
from abstrag.stores.sqlite import SqliteStore
from abstrag.testing.sample_index import sample_index
from tests.faults.sqlite_disk import Disk, Fault, sqlite_on
from tests.unit.llm.test_log import WIRE, call

VECTOR = bytes(range(256)) * 6  # as long as an embedding


@dataclass(frozen=True)
class Story:
    """How to open it, what is done to it, and all that a reader can see of it."""

    open: Callable[[Path], Any]
    steps: Sequence[Callable[[Any], object]]
    seen: Callable[[Any], object]
    check: Callable[[Any], None] = lambda _kept: None


def _index(name: str, text: str = "") -> DocumentIndex:
    made = sample_index()
    document = replace(made.document, id=name, title=f"{made.document.title} {text}")
    return replace(made, document=document)


def _put(name: str, text: str = "") -> Callable[[SqliteStore], object]:
    return lambda store: store.put(_index(name, text), source_path=f"/{name}", source_hash=text)


def _put_together(store: SqliteStore) -> None:
    with store.together():
        _put("c")(store)
        store.put_layer(_A, "vectors", "model-2", VECTOR)
        _put("d")(store)


def _seen_in_store(store: SqliteStore) -> object:
    infos = store.documents()
    contents = sorted({info.content_hash for info in infos})
    return (
        [(info.id, info.source_hash, store.get(info.id)) for info in infos],
        [store.layers(content) for content in contents],
        [store.remembered(kind, c) for kind in ("embeddings", "judgements") for c in contents],
        store.version(),
        sorted(store.layers_named("vectors")),
    )


_A = _index("a").document.content_hash
STORE = Story(
    open=SqliteStore.open,
    steps=(
        _put("a"),
        lambda store: store.put_layer(_A, "vectors", "model-1", VECTOR * 20),
        lambda store: store.remember("embeddings", _A, "model-1", {b"k": VECTOR, b"l": VECTOR}),
        lambda store: store.remember("judgements", _A, "judge", {b"q": b"0.5"}),
        _put("b"),
        _put("a", "once more"),  # in place of the first, whose layers go
        lambda store: store.remove("b"),
        _put_together,
        lambda store: store.forget(_A),
    ),
    seen=_seen_in_store,
    check=SqliteStore.check,
)


def _call(number: int, error: str | None = None) -> Call:
    return call(id=f"call-{number}", error=error)


def _seen_in_log(log: CallLog) -> object:
    return (
        log.lines(),
        [log.exchanges(f"call-{number}") for number in range(4)],
        list(log.calls()),
    )


CALLS = Story(
    open=CallLog.open,
    steps=(
        lambda log: log.add(_call(0), WIRE),
        lambda log: log.add(_call(1, "it failed"), WIRE),
        lambda log: log.find("call-0"),
        lambda log: log.add(_call(1), WIRE),
        lambda log: log.add(_call(2), WIRE * 20),
    ),
    seen=_seen_in_log,
)


@dataclass(frozen=True)
class Told:
    """A run of a story: where it stopped, None for nowhere, and how many calls it made."""

    stopped: int | None
    error: BaseException | None
    calls: int


def tell(story: Story, path: Path, disk: Disk) -> Told:
    """Run a story on a disk until it ends or a step fails; -1 is the opening."""
    done, error = -1, None
    with sqlite_on(disk):
        kept = None
        try:
            kept = story.open(path)
            done = 0
            for step in story.steps:
                step(kept)
                done += 1
        except AbstragError as failed:
            error = failed
        finally:
            if kept is not None:
                with suppress(AbstragError):
                    kept.close()
    disk.forget_unsynced()
    return Told(None if error is None else done, error, disk.calls)


def states(story: Story, folder: Path) -> list[object]:
    """Return what a reader sees after no step, after the first one, and so on."""
    found = []
    for number in range(len(story.steps) + 1):
        path = folder / f"state-{number}.db"
        kept = story.open(path)
        for step in story.steps[:number]:
            step(kept)
        found.append(story.seen(kept))
        kept.close()
    return found


def injected(story: Story, folder: Path, fault: Fault) -> int:
    """Let a fault strike at every call of a story, and see what is left; return how many did."""
    wanted = states(story, folder)
    total = tell(story, folder / "whole.db", Disk(fault)).calls
    struck = 0
    for at in range(1, total + 1):
        path = folder / f"{fault.name}-{at}.db"
        disk = Disk(fault, at)
        told = tell(story, path, disk)
        struck += disk.struck
        _see_what_is_left(story, path, told, wanted, f"{fault.name} at call {at} of {total}")
        for left in folder.glob(f"{path.name}*"):
            left.unlink()
    return struck


def _see_what_is_left(
    story: Story, path: Path, told: Told, wanted: Sequence[object], where: str
) -> None:
    """Open the file on a sound disk: nothing that was reported is missing, and it goes on."""
    kept = story.open(path)
    try:
        story.check(kept)
        seen = story.seen(kept)
        last = len(story.steps)
        done = last if told.stopped is None else max(told.stopped, 0)
        possible = wanted[done : done + 2]
        assert seen in possible, f"{where}: not a state after {done} or {done + 1} steps"
        for step in story.steps[done + possible.index(seen) :]:
            step(kept)
        assert story.seen(kept) == wanted[last], f"{where}: it cannot be taken up again"
    finally:
        kept.close()
