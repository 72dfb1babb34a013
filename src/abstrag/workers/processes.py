"""The engine of this machine, and the loop behind every engine.

The loop says who gets which item, and what happens when a worker is lost. The item a worker was at
when it died is a suspect. A suspect is done again in a fresh worker, and alone, so that nobody else
can be to blame; if that one dies too, the item is given up. What else the dead worker had goes back
to the others at no cost. An item that used up its budget is given up at once, with its worker.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final

from abstrag.cores import children_on_one_core
from abstrag.errors import WorkerLost
from abstrag.workers.protocol import (
    CPU_SPENT,
    HINT,
    TIME_SPENT,
    BudgetSpent,
    Event,
    Item,
    ItemDone,
    ItemOverBudget,
    LostItem,
    OnProgress,
    Progress,
    Result,
    TaskRaised,
    WorkerDied,
    WorkerPool,
    WorkerReady,
    WorkerTask,
    connect,
    ended,
    ignore_progress,
    ran_out_of_time,
)

_CONTEXT: Final = multiprocessing.get_context("spawn")  # threads of numerical libraries do not fork
_EXIT_WAIT_S: Final = 5.0
_USUAL: Final = 4  # more gain little on a laptop, and each holds its own models
WINDOW: Final = 16  # items drawn per worker and not handed over yet: results wait for their turn
_HANDED: Final = 2  # items a worker has at once: the one it is at, and the next
_DEATHS: Final = 2  # of its worker, and an item is given up
_BAD_STARTS: Final = 3  # in a row, for each worker there may be, and the engine gives up


def usual_workers() -> int:
    """Return the default number of workers on this machine."""
    allowed = getattr(os, "sched_getaffinity", None)  # not every system limits a process to some
    return min(len(allowed(0)) if allowed else os.cpu_count() or 1, _USUAL)


@dataclass(frozen=True, slots=True)
class Processes:
    """An `Engine` of processes on this machine.

    Args:
        workers: How many of them.
        window: How many items per worker may be under way, results that wait included.
        time_limit: Seconds after which an item is given up; None lets it go on.
        on_told: Hears how far workers are, each time with the item.
    """

    workers: int
    window: int = WINDOW
    time_limit: float | None = None
    on_told: OnProgress = ignore_progress

    def run(
        self, task: WorkerTask[Item, Result], items: Iterable[Item]
    ) -> Generator[tuple[Item, Result | LostItem]]:
        """Yield every item with its result, in the order of the items."""
        pool = ProcessPool(task)
        loop = WorkLoop(
            pool, self.workers, window=self.window, time_limit=self.time_limit, on_told=self.on_told
        )
        return loop.run(items)


@dataclass(slots=True)
class _Worker:
    process: multiprocessing.process.BaseProcess
    connection: Connection
    unanswered: int = 1  # messages: that it is ready, then a result for each item


class _Stop:
    """Sent in place of an item: there are no more."""


class ProcessPool:
    """A `WorkerPool` of processes, each with a pipe; its end is the end of the worker."""

    def __init__(self, task: WorkerTask[Any, Any]) -> None:
        self._task = pickle.dumps(task)
        self._workers: dict[int, _Worker] = {}
        self._hired = 0

    def start_worker(self) -> int:
        """Start a process."""
        ours, theirs = _CONTEXT.Pipe()
        process = _CONTEXT.Process(target=_work, args=(theirs, self._task), daemon=True)
        # Ctrl-C reaches everybody in the terminal's group; only the parent is to act on it
        with _interrupts_held(), children_on_one_core():
            process.start()
        theirs.close()
        self._hired += 1
        self._workers[self._hired] = _Worker(process, ours)
        return self._hired

    def submit(self, worker: int, item: Any) -> None:
        """Send an item; a thread of the worker takes it in, so that this never waits for long."""
        self._workers[worker].unanswered += 1
        try:
            self._workers[worker].connection.send(item)
        except (BrokenPipeError, ConnectionResetError):
            return  # it died; its end of the pipe says so, after what it still had to say

    def wait(self, seconds: float | None) -> list[Event]:
        """Read one message from each worker that has sent any."""
        # pipes of Windows are of another class, so they are told apart by what they are to us
        by_pipe: dict[object, int] = {w.connection: n for n, w in self._workers.items()}
        ready = wait([worker.connection for worker in self._workers.values()], seconds)
        return [self._read(by_pipe[each]) for each in ready]

    def _read(self, number: int) -> Event:
        worker = self._workers[number]
        try:
            kind, value = pickle.loads(worker.connection.recv_bytes())
        except (EOFError, OSError):  # closed, or torn off in the middle of a message
            worker.process.join(_EXIT_WAIT_S)  # so that we hear how it ended
            exit_code = worker.process.exitcode
            self.stop_worker(number)
            if ran_out_of_time(exit_code):
                return ItemOverBudget(number, CPU_SPENT)
            return WorkerDied(number, ended(exit_code))
        worker.unanswered -= kind is not Progress
        event: Event = WorkerReady(number) if kind is WorkerReady else kind(number, value)
        return event

    def kill(self, worker: int) -> None:
        """Kill a process, from any thread; whoever waits for it hears that it died."""
        if (known := self._workers.get(worker)) is not None:
            known.process.kill()
            known.process.join(_EXIT_WAIT_S)

    def stop_worker(self, worker: int) -> None:
        """Kill a process and wait until it is gone."""
        gone = self._workers.pop(worker, None)
        if gone is None:
            return
        gone.connection.close()
        gone.process.kill()
        gone.process.join()

    def close(self) -> None:
        """Let finished workers exit, and kill the others, whose results are not wanted."""
        idle = [worker for worker in self._workers.values() if worker.unanswered == 0]
        for worker in idle:
            with suppress(OSError):  # it is gone already
                worker.connection.send(_Stop())
        for worker in idle:
            worker.process.join(_EXIT_WAIT_S)
        for number in list(self._workers):
            self.stop_worker(number)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold back Ctrl-C while a process starts; from then on the process ignores it.

    Windows cannot hold a signal back. A worker that hears one while it starts ends with it.
    """
    hold = getattr(signal, "pthread_sigmask", None)
    if hold is None:
        yield
        return
    resource_tracker.ensure_running()  # the first start of it would let the signal through
    before = hold(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        hold(signal.SIG_SETMASK, before)


def _work(connection: Connection, pickled: bytes) -> None:
    """Be a worker: load once, then do items until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    inbox: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_receive, args=(connection, inbox), daemon=True).start()
    connect(lambda told: _tell(connection, pickle.dumps((Progress, told))))
    try:
        task: WorkerTask[Any, Any] = pickle.loads(pickled)
        perform = task.start()
    except Exception as error:
        _tell(connection, pickle.dumps((TaskRaised, sendable(error))))
        return
    _tell(connection, pickle.dumps((WorkerReady, None)))
    while not isinstance(item := inbox.get(), _Stop):
        try:
            message = pickle.dumps((ItemDone, perform(item)))
        except BudgetSpent as spent:
            message = pickle.dumps((ItemOverBudget, spent.why))
        except Exception as error:
            message = pickle.dumps((TaskRaised, sendable(error)))
        _tell(connection, message)


def _tell(connection: Connection, message: bytes) -> None:
    try:
        connection.send_bytes(message)
    except OSError:  # the parent is gone, and nobody is there to hear of it
        os._exit(1)


def _receive(connection: Connection, inbox: SimpleQueue[Any]) -> None:
    """Take items in, and end with the parent: one that was killed leaves no worker behind."""
    try:
        while True:
            inbox.put(connection.recv())
    except (EOFError, OSError):
        os._exit(1)


def sendable(error: Exception) -> Exception:
    """Return an error that survives the way to another process, with where it came from."""
    where = "".join(traceback.format_exception(error))
    try:
        copy: Exception = pickle.loads(pickle.dumps(error))
    except Exception:
        copy = WorkerLost(f"a worker raised {type(error).__name__}: {error}")
    copy.add_note(f"in a worker:\n{where}")
    return copy


@dataclass(slots=True)
class _WorkerState:
    """One worker: whether it takes items, those it has, and since when it is at the first."""

    ready: bool = False
    done: int = 0
    tickets: deque[int] = field(default_factory=deque)
    since: float = 0.0


class WorkLoop:
    """One task's items on their way through a pool."""

    def __init__(
        self,
        pool: WorkerPool,
        workers: int,
        *,
        window: int = WINDOW,
        time_limit: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        on_told: OnProgress = ignore_progress,
    ) -> None:
        self._pool = pool
        self._workers = workers
        self._window = workers * window
        self._time_limit = time_limit
        self._clock = clock
        self._on_told = on_told
        self._states: dict[int, _WorkerState] = {}
        self._items: dict[int, Any] = {}  # drawn and not handed over, by ticket
        self._results: dict[int, Any] = {}  # done, and waiting for those before
        self._todo: deque[int] = deque()
        self._suspects: deque[int] = deque()
        self._deaths: dict[int, int] = {}
        self._bad_starts = 0
        self._drawn = 0

    def run(self, items: Iterable[Any]) -> Generator[tuple[Any, Any]]:
        """Yield every item with its result or `LostItem`, in order; end the pool when over."""
        source = iter(items)
        turn = 0
        with closing(self._pool):
            while True:
                self._draw(source)
                if turn == self._drawn:
                    return
                self._fill_up()
                self._hand_out()
                while turn in self._results:
                    result = self._results.pop(turn)
                    if isinstance(result, TaskRaised):
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

    def _fill_up(self) -> None:
        """Start a worker for each item that waits, as long as there may be more of them."""
        open_items = len(self._items) - len(self._results)
        while len(self._states) < min(self._workers, open_items):
            self._states[self._pool.start_worker()] = _WorkerState()

    def _hand_out(self) -> None:
        if self._suspects:
            if not any(state.tickets for state in self._states.values()):
                self._try_alone(self._suspects[0])
            return
        for depth in range(_HANDED):
            for number, state in self._states.items():
                if self._todo and state.ready and len(state.tickets) == depth:
                    self._give(number, self._todo.popleft())

    def _try_alone(self, suspect: int) -> None:
        """Give a suspect to a fresh worker once all others, which may hold memory, have ended."""
        for number, state in list(self._states.items()):
            if state.done:
                self._pool.stop_worker(number)
                del self._states[number]
        self._fill_up()
        fresh = [number for number, state in self._states.items() if state.ready]
        if fresh:
            self._give(fresh[0], suspect)

    def _give(self, worker: int, ticket: int) -> None:
        state = self._states[worker]
        if not state.tickets:
            state.since = self._clock()
        state.tickets.append(ticket)
        self._pool.submit(worker, self._items[ticket])

    def _wait(self) -> None:
        seconds = None
        if self._time_limit is not None:
            busy = [state.since for state in self._states.values() if state.tickets]
            if busy:
                seconds = max(0.0, min(busy) + self._time_limit - self._clock())
        for event in self._pool.wait(seconds):
            self._take(event)
        if self._time_limit is not None:
            self._end_overdue(self._time_limit)

    def _take(self, event: Event) -> None:
        state = self._states[event.worker]
        match event:
            case WorkerReady():
                state.ready = True
            case ItemDone(result=result):
                self._finish(state, result)
            case TaskRaised(error=error):
                if not state.ready:  # what it needs cannot be loaded, here or in any other worker
                    raise error
                self._finish(state, event)
            case WorkerDied(how=how):
                del self._states[event.worker]
                self._lost(state, how)
            case Progress(what=what):
                if state.tickets:
                    self._on_told(self._items[state.tickets[0]], what)
            case ItemOverBudget(why=why):
                self._dismiss(event.worker, state, why)

    def _finish(self, state: _WorkerState, result: Any) -> None:
        ticket = state.tickets.popleft()
        state.since = self._clock()
        state.done += 1
        self._bad_starts = 0
        self._results[ticket] = result
        self._clear(ticket)

    def _lost(self, state: _WorkerState, how: str) -> None:
        if not state.tickets:
            self._bad_starts += not state.ready
            if self._bad_starts == self._workers * _BAD_STARTS:
                raise WorkerLost(
                    f"{self._bad_starts} workers in a row died before they could begin, {how}",
                    hint="see whether there is memory for them, or use fewer --workers",
                )
            return
        suspect = state.tickets.popleft()
        self._todo.extendleft(reversed(state.tickets))
        self._deaths[suspect] = self._deaths.get(suspect, 0) + 1
        if self._deaths[suspect] == _DEATHS:
            self._give_up(suspect, f"its worker died twice, the second time {how}")
        elif suspect not in self._suspects:
            self._suspects.append(suspect)

    def _end_overdue(self, limit: float) -> None:
        for number, state in list(self._states.items()):
            if state.tickets and self._clock() - state.since >= limit:
                self._dismiss(number, state, TIME_SPENT.format(limit))

    def _dismiss(self, number: int, state: _WorkerState, why: str) -> None:
        """End a worker and give up the item it is at; the others go back."""
        self._pool.stop_worker(number)
        del self._states[number]
        ticket = state.tickets.popleft()
        self._todo.extendleft(reversed(state.tickets))
        self._give_up(ticket, why)

    def _give_up(self, ticket: int, why: str) -> None:
        self._results[ticket] = LostItem(WorkerLost(f"given up: {why}", hint=HINT), why)
        self._clear(ticket)

    def _clear(self, ticket: int) -> None:
        self._deaths.pop(ticket, None)
        if ticket in self._suspects:
            self._suspects.remove(ticket)
