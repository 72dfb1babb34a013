"""The engine of a cluster: Ray actors that load once, do items, and may be lost with their node.

Ray moves items and results and says when an actor or its node is gone; what then becomes of the
items is decided by the same loop as on one machine.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from typing import Any, Final

from abstrag.errors import ResourceMissing, WorkerLost
from abstrag.workers.processes import WINDOW, WorkLoop, sendable, usual_workers
from abstrag.workers.protocol import (
    BudgetSpent,
    Event,
    Item,
    ItemDone,
    ItemOverBudget,
    LostItem,
    Result,
    TaskRaised,
    WorkerDied,
    WorkerReady,
    WorkerTask,
)

_OBJECT_STORE_BYTES: Final = 100 * 2**20  # results are small and read at once
_QUIET: Final = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


@dataclass(frozen=True, slots=True)
class RayCluster:
    """An `Engine` of Ray actors.

    Args:
        given: How many workers; None takes one for each CPU of the cluster.
        address: Of a running cluster; None starts one on this machine and ends it afterwards.
        window: How many items per worker may be under way, results that wait included.
        time_limit: Seconds after which an item is given up; None lets it go on.
    """

    given: int | None = None
    address: str | None = None
    window: int = WINDOW
    time_limit: float | None = None

    @property
    def workers(self) -> int:
        """How many workers there are at most; before the cluster is known, this machine's share."""
        return self.given or usual_workers()

    def run(
        self, task: WorkerTask[Item, Result], items: Iterable[Item]
    ) -> Generator[tuple[Item, Result | LostItem]]:
        """Yield every item with its result, in the order of the items."""
        ray = _ray()
        ours = not ray.is_initialized()
        if ours:
            self._connect(ray)
        try:
            workers = self.given or int(ray.cluster_resources().get("CPU", 1))
            pool = ActorPool(ray, task)
            loop = WorkLoop(pool, workers, window=self.window, time_limit=self.time_limit)
            yield from loop.run(items)
        finally:
            if ours:
                ray.shutdown()

    def _connect(self, ray: Any) -> None:
        common = {"log_to_driver": False, "logging_level": "ERROR"}
        if self.address is None:
            ray.init(
                num_cpus=self.workers,
                object_store_memory=_OBJECT_STORE_BYTES,
                include_dashboard=False,
                _node_ip_address="127.0.0.1",
                **common,
            )
            return
        try:
            ray.init(address=self.address, **common)
        except Exception as error:  # Ray has no class for it
            raise WorkerLost(
                f"no Ray cluster answers at {self.address!r}: {str(error).splitlines()[0]}",
                hint="start one with: ray start --head, and name the address it prints",
            ) from error


def _ray() -> Any:
    """Import Ray without its telemetry."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        return import_module("ray")
    except ImportError as error:
        raise ResourceMissing(
            f"--engine ray needs the package ray: {error}", hint="pip install 'abstrag[ray]'"
        ) from error


class _Worker:
    """Runs on a node: loads once, then does items in the order they come."""

    def __init__(self, pickled: bytes) -> None:
        self._pickled = pickled
        self._perform: Callable[[Any], Any] | None = None

    def start(self) -> tuple[type, Any]:
        """Load what every item needs, and tell which version does it."""
        try:
            self._perform = pickle.loads(self._pickled).start()
        except Exception as error:
            return TaskRaised, sendable(error)
        return WorkerReady, version("abstrag")

    def perform(self, item: Any) -> tuple[type, Any]:
        """Do one item."""
        assert self._perform is not None
        try:
            return ItemDone, pickle.dumps(self._perform(item))
        except BudgetSpent as spent:
            return ItemOverBudget, spent.why
        except Exception as error:
            return TaskRaised, sendable(error)


class ActorPool:
    """A `WorkerPool` of Ray actors; each takes one CPU, wherever Ray finds it."""

    def __init__(self, ray: Any, task: WorkerTask[Any, Any]) -> None:
        self._ray = ray
        self._task = pickle.dumps(task)
        self._class = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(_Worker)
        self._actors: dict[int, Any] = {}
        self._calls: dict[Any, int] = {}  # what an actor was asked, oldest first, and who it is
        self._hired = 0

    def start_worker(self) -> int:
        """Ask Ray for an actor; it is ready when Ray has found room for it."""
        self._hired += 1
        actor = self._class.remote(self._task)
        self._actors[self._hired] = actor
        self._calls[actor.start.remote()] = self._hired
        return self._hired

    def submit(self, worker: int, item: Any) -> None:
        """Call an actor; calls are done in order."""
        self._calls[self._actors[worker].perform.remote(item)] = worker

    def wait(self, seconds: float | None) -> list[Event]:
        """Return an event about the oldest call of one of the actors."""
        oldest: dict[int, Any] = {}
        for call, worker in self._calls.items():
            oldest.setdefault(worker, call)
        done, _ = self._ray.wait(list(oldest.values()), num_returns=1, timeout=seconds)
        return [self._read(call) for call in done]

    def _read(self, call: Any) -> Event:
        worker = self._calls.pop(call)
        try:
            kind, value = self._ray.get(call)
        except self._ray.exceptions.RayError as error:
            self.stop_worker(worker)
            return WorkerDied(worker, f"on its node ({type(error).__name__})")
        if kind is WorkerReady:
            _check_version(value)
            return WorkerReady(worker)
        event: Event = kind(worker, pickle.loads(value) if kind is ItemDone else value)
        return event

    def stop_worker(self, worker: int) -> None:
        """End an actor and its calls at once; one that is gone already is ignored."""
        if worker in self._actors:
            self._ray.kill(self._actors.pop(worker))
        self._calls = {call: who for call, who in self._calls.items() if who != worker}

    def close(self) -> None:
        """End every actor."""
        for worker in list(self._actors):
            self.stop_worker(worker)


def _check_version(theirs: str) -> None:
    ours = version("abstrag")
    if theirs != ours:
        raise WorkerLost(
            f"a node of the cluster has abstrag {theirs}, this machine has {ours}",
            hint="install the same version on every node",
        )
