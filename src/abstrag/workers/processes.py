"""The engine of this machine: processes that outlive their items and never their parent."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import traceback
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final

from abstrag.errors import WorkerLost
from abstrag.workers.budget import CPU_SPENT, Spent, ended, ran_out_of_time
from abstrag.workers.protocol import (
    Died,
    Event,
    Item,
    ItemDone,
    ItemOverBudget,
    LostItem,
    OnTold,
    Raised,
    Ready,
    Result,
    Told,
    WorkerTask,
    connect,
    nobody,
)
from abstrag.workers.shift import WINDOW, Shift

_CONTEXT: Final = multiprocessing.get_context("spawn")  # threads of numerical libraries do not fork
_LAST_BREATH_S: Final = 5.0
_USUAL: Final = 4  # more gain little on a laptop, and each holds its own models


def usual_workers() -> int:
    """Return how many workers this machine gets when nobody says."""
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
    on_told: OnTold = nobody

    def run(
        self, task: WorkerTask[Item, Result], items: Iterable[Item]
    ) -> Generator[tuple[Item, Result | LostItem]]:
        """Yield every item with its result, in the order of the items."""
        crew = ProcessCrew(task)
        shift = Shift(
            crew,
            self.workers,
            window=self.window,
            time_limit=self.time_limit,
            on_told=self.on_told,
        )
        return shift.run(items)


@dataclass(slots=True)
class _Worker:
    process: multiprocessing.process.BaseProcess
    connection: Connection
    owes: int = 1  # messages: that it is ready, then a result for each item


class _Stop:
    """In place of an item: there are no more."""


class ProcessCrew:
    """A `Crew` of processes, each with a pipe; the end of the pipe is the end of the worker."""

    def __init__(self, task: WorkerTask[Any, Any]) -> None:
        self._task = pickle.dumps(task)
        self._workers: dict[int, _Worker] = {}
        self._hired = 0

    def hire(self) -> int:
        """Start a process."""
        ours, theirs = _CONTEXT.Pipe()
        process = _CONTEXT.Process(target=_work, args=(theirs, self._task), daemon=True)
        # Ctrl-C reaches everybody in the terminal's group; only the parent is to act on it
        with _interrupts_held():
            process.start()
        theirs.close()
        self._hired += 1
        self._workers[self._hired] = _Worker(process, ours)
        return self._hired

    def give(self, worker: int, item: Any) -> None:
        """Send an item; a thread of the worker takes it in, so that this never waits for long."""
        self._workers[worker].owes += 1
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
            worker.process.join(_LAST_BREATH_S)  # so that we hear how it ended
            exit_code = worker.process.exitcode
            self.dismiss(number)
            if ran_out_of_time(exit_code):
                return ItemOverBudget(number, CPU_SPENT)
            return Died(number, ended(exit_code))
        if kind is Told:
            return Told(number, value)
        worker.owes -= 1
        if kind is ItemOverBudget:
            return ItemOverBudget(number, value)
        if kind is Ready:
            return Ready(number)
        return Raised(number, value) if kind is Raised else ItemDone(number, value)

    def dismiss(self, worker: int) -> None:
        """Kill a process and wait until it is gone."""
        gone = self._workers.pop(worker, None)
        if gone is None:
            return
        gone.connection.close()
        gone.process.kill()
        gone.process.join()

    def close(self) -> None:
        """Let those that are done go in peace, and kill the others: nothing of theirs is wanted."""
        idle = [worker for worker in self._workers.values() if worker.owes == 0]
        for worker in idle:
            with suppress(OSError):  # it is gone already
                worker.connection.send(_Stop())
        for worker in idle:
            worker.process.join(_LAST_BREATH_S)
        for number in list(self._workers):
            self.dismiss(number)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Let no Ctrl-C through while a process starts; it ignores them from then on.

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
    connect(lambda told: _tell(connection, pickle.dumps((Told, told))))
    try:
        task: WorkerTask[Any, Any] = pickle.loads(pickled)
        perform = task.start()
    except Exception as error:
        _tell(connection, pickle.dumps((Raised, sendable(error))))
        return
    _tell(connection, pickle.dumps((Ready, None)))
    while not isinstance(item := inbox.get(), _Stop):
        try:
            message = pickle.dumps((ItemDone, perform(item)))
        except Spent as spent:
            message = pickle.dumps((ItemOverBudget, spent.why))
        except Exception as error:
            message = pickle.dumps((Raised, sendable(error)))
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
