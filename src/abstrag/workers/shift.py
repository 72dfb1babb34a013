"""The loop behind every engine: who gets which item, and what happens when a worker is lost.

The item a worker was at when it died is a suspect. A suspect is done again in a fresh worker, and
alone, so that nobody else can be to blame; if that one dies too, the item is given up. What else
the dead worker had goes back to the others at no cost. An item that used up its budget is given up
at once, with its worker.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final

from abstrag.errors import WorkerLost
from abstrag.workers.budget import HINT, TIME_SPENT
from abstrag.workers.protocol import (
    Crew,
    Died,
    Event,
    ItemDone,
    ItemOverBudget,
    LostItem,
    OnTold,
    Raised,
    Ready,
    Told,
    nobody,
)

WINDOW: Final = 16  # items drawn per worker and not handed over yet: results wait for their turn
_HANDED: Final = 2  # items a worker has at once: the one it is at, and the next
_DEATHS: Final = 2  # of its worker, and an item is given up
_BAD_STARTS: Final = 3  # in a row, for each worker there may be, and the engine gives up


@dataclass(slots=True)
class _Desk:
    """One worker: whether it takes items, those it has, and since when it is at the first."""

    ready: bool = False
    done: int = 0
    tickets: deque[int] = field(default_factory=deque)
    since: float = 0.0


class Shift:
    """One task's items on their way through a crew."""

    def __init__(
        self,
        crew: Crew,
        workers: int,
        *,
        window: int = WINDOW,
        time_limit: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        on_told: OnTold = nobody,
    ) -> None:
        self._crew = crew
        self._workers = workers
        self._window = workers * window
        self._time_limit = time_limit
        self._clock = clock
        self._on_told = on_told
        self._desks: dict[int, _Desk] = {}
        self._items: dict[int, Any] = {}  # drawn and not handed over, by ticket
        self._results: dict[int, Any] = {}  # done, and waiting for those before
        self._todo: deque[int] = deque()
        self._suspects: deque[int] = deque()
        self._deaths: dict[int, int] = {}
        self._bad_starts = 0
        self._drawn = 0

    def run(self, items: Iterable[Any]) -> Generator[tuple[Any, Any]]:
        """Yield every item with its result or `LostItem`, in order; end the crew when over."""
        source = iter(items)
        turn = 0
        with closing(self._crew):
            while True:
                self._draw(source)
                if turn == self._drawn:
                    return
                self._staff()
                self._hand_out()
                while turn in self._results:
                    result = self._results.pop(turn)
                    if isinstance(result, Raised):
                        raise result.error
                    yield self._items.pop(turn), result
                    turn += 1
                    self._draw(source)
                    self._hand_out()
                if self._items:
                    self._wait()

    def _draw(self, source: Iterator[Any]) -> None:
        while len(self._items) < self._window:
            try:
                item = next(source)
            except StopIteration:
                return
            self._items[self._drawn] = item
            self._todo.append(self._drawn)
            self._drawn += 1

    def _staff(self) -> None:
        """Start a worker for each item that waits, as long as there may be more of them."""
        open_items = len(self._items) - len(self._results)
        while len(self._desks) < min(self._workers, open_items):
            self._desks[self._crew.hire()] = _Desk()

    def _hand_out(self) -> None:
        if self._suspects:
            if not any(desk.tickets for desk in self._desks.values()):
                self._try_alone(self._suspects[0])
            return
        for depth in range(_HANDED):
            for number, desk in self._desks.items():
                if self._todo and desk.ready and len(desk.tickets) == depth:
                    self._give(number, self._todo.popleft())

    def _try_alone(self, suspect: int) -> None:
        """Hand a suspect to a fresh worker when everybody who may hold memory has gone home."""
        for number, desk in list(self._desks.items()):
            if desk.done:
                self._crew.dismiss(number)
                del self._desks[number]
        self._staff()
        fresh = [number for number, desk in self._desks.items() if desk.ready]
        if fresh:
            self._give(fresh[0], suspect)

    def _give(self, worker: int, ticket: int) -> None:
        desk = self._desks[worker]
        if not desk.tickets:
            desk.since = self._clock()
        desk.tickets.append(ticket)
        self._crew.give(worker, self._items[ticket])

    def _wait(self) -> None:
        seconds = None
        if self._time_limit is not None:
            busy = [desk.since for desk in self._desks.values() if desk.tickets]
            if busy:
                seconds = max(0.0, min(busy) + self._time_limit - self._clock())
        for event in self._crew.wait(seconds):
            self._take(event)
        if self._time_limit is not None:
            self._end_overdue(self._time_limit)

    def _take(self, event: Event) -> None:
        desk = self._desks[event.worker]
        match event:
            case Ready():
                desk.ready = True
            case ItemDone(result=result):
                self._finish(desk, result)
            case Raised(error=error):
                if not desk.ready:  # what it needs cannot be loaded, here or in any other worker
                    raise error
                self._finish(desk, event)
            case Died(how=how):
                del self._desks[event.worker]
                self._bury(desk, how)
            case Told(what=what):
                if desk.tickets:
                    self._on_told(self._items[desk.tickets[0]], what)
            case ItemOverBudget(why=why):
                self._part_with(event.worker, desk, why)

    def _finish(self, desk: _Desk, result: Any) -> None:
        ticket = desk.tickets.popleft()
        desk.since = self._clock()
        desk.done += 1
        self._bad_starts = 0
        self._results[ticket] = result
        self._clear(ticket)

    def _bury(self, desk: _Desk, how: str) -> None:
        if not desk.tickets:
            self._bad_starts += not desk.ready
            if self._bad_starts == self._workers * _BAD_STARTS:
                raise WorkerLost(
                    f"{self._bad_starts} workers in a row died before they could begin, {how}",
                    hint="see whether there is memory for them, or use fewer --workers",
                )
            return
        suspect = desk.tickets.popleft()
        self._todo.extendleft(reversed(desk.tickets))
        self._deaths[suspect] = self._deaths.get(suspect, 0) + 1
        if self._deaths[suspect] == _DEATHS:
            self._give_up(suspect, f"its worker died twice, the second time {how}")
        elif suspect not in self._suspects:
            self._suspects.append(suspect)

    def _end_overdue(self, limit: float) -> None:
        for number, desk in list(self._desks.items()):
            if desk.tickets and self._clock() - desk.since >= limit:
                self._part_with(number, desk, TIME_SPENT.format(limit))

    def _part_with(self, number: int, desk: _Desk, why: str) -> None:
        """End a worker and give up the item it is at; the others go back."""
        self._crew.dismiss(number)
        del self._desks[number]
        ticket = desk.tickets.popleft()
        self._todo.extendleft(reversed(desk.tickets))
        self._give_up(ticket, why)

    def _give_up(self, ticket: int, why: str) -> None:
        self._results[ticket] = LostItem(WorkerLost(f"given up: {why}", hint=HINT), why)
        self._clear(ticket)

    def _clear(self, ticket: int) -> None:
        self._deaths.pop(ticket, None)
        if ticket in self._suspects:
            self._suspects.remove(ticket)
