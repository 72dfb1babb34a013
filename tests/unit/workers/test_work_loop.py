"""Who gets which item, and what a lost worker costs; with workers that only pretend."""

from collections import Counter, deque
from collections.abc import Iterator
from typing import Any

import pytest

from abstrag.errors import InputError, WorkerLost
from abstrag.workers.processes import WorkLoop
from abstrag.workers.protocol import Event, ItemDone, LostItem, TaskRaised, WorkerDied, WorkerReady


class Pretending:
    """A pool that follows a script: what an item does the first time, the second time, and so on.

    The newest worker is always the fastest, so that results come in another order than items.
    """

    def __init__(
        self, script: dict[Any, list[str]] | None = None, *, starts: str = "ready"
    ) -> None:
        self.script = {item: deque(acts) for item, acts in (script or {}).items()}
        self.starts = starts
        self.has: dict[int, deque[Any]] = {}
        self.done: Counter[int] = Counter()
        self.given: list[tuple[Any, int, int]] = []  # item, its worker's items so far, others' load
        self.news: deque[Event] = deque()
        self.hired = 0
        self.now = 0.0
        self.closed = False

    def start_worker(self) -> int:
        self.hired += 1
        self.has[self.hired] = deque()
        if self.starts == "ready":
            self.news.append(WorkerReady(self.hired))
        elif self.starts == "raise":
            self.news.append(TaskRaised(self.hired, InputError("no model")))
        else:
            self.news.append(WorkerDied(self.hired, "by SIGKILL"))
        return self.hired

    def submit(self, worker: int, item: Any) -> None:
        load = sum(len(items) for number, items in self.has.items() if number != worker)
        self.given.append((item, self.done[worker], load))
        self.has[worker].append(item)

    def wait(self, seconds: float | None) -> list[Event]:
        if self.news:
            return [self.news.popleft()]
        for worker in sorted(self.has, reverse=True):
            if self.has[worker]:
                item = self.has[worker][0]
                acts = self.script.get(item)
                act = acts.popleft() if acts else "answer"
                if act == "hang":
                    acts.appendleft("hang")  # type: ignore[union-attr]
                    continue
                return [self.event(worker, item, act)]
        assert seconds is not None, "everybody hangs and nobody would ever wake up"
        self.now += seconds
        return []

    def event(self, worker: int, item: Any, act: str) -> Event:
        if act == "die":
            del self.has[worker]
            return WorkerDied(worker, "by SIGKILL")
        self.has[worker].popleft()
        self.done[worker] += 1
        return (
            TaskRaised(worker, InputError(item)) if act == "raise" else ItemDone(worker, f"{item}!")
        )

    def stop_worker(self, worker: int) -> None:
        del self.has[worker]

    def close(self) -> None:
        self.closed = True


def loop(pool: Pretending, workers: int = 2, **settings: Any) -> WorkLoop:
    return WorkLoop(pool, workers, clock=lambda: pool.now, **settings)


def test_results_come_in_the_order_of_the_items() -> None:
    pool = Pretending()
    assert list(loop(pool, 3).run("abcdefgh")) == [(c, f"{c}!") for c in "abcdefgh"]
    assert pool.hired == 3
    assert pool.closed


def test_there_are_no_more_workers_than_items() -> None:
    pool = Pretending()
    assert list(loop(pool, 8).run("ab")) == [("a", "a!"), ("b", "b!")]
    assert pool.hired == 2
    assert list(loop(Pretending(), 8).run("")) == []


@pytest.mark.parametrize("script", [{}, {0: ["die"], 50: ["die", "die"]}])
def test_no_more_than_a_window_is_ever_drawn(script: dict[Any, list[str]]) -> None:
    drawn = 0

    def items() -> Iterator[int]:
        nonlocal drawn
        for item in range(200):
            drawn += 1
            yield item

    widest = 0
    for handed, _ in enumerate(loop(Pretending(script), 2, window=5).run(items())):
        widest = max(widest, drawn - handed)
    assert widest == 10


def test_a_worker_that_dies_costs_nothing_but_time() -> None:
    pool = Pretending({"c": ["die"]})
    assert list(loop(pool).run("abcdef")) == [(c, f"{c}!") for c in "abcdef"]
    again = [given for given in pool.given if given[0] == "c"]
    assert len(again) == 2
    assert again[1] == ("c", 0, 0), "it was not alone, or not in a fresh worker"


def test_an_item_that_ends_its_worker_twice_is_given_up_and_the_others_are_not() -> None:
    pool = Pretending({"b": ["die", "die"], "d": ["die"]})
    results = dict(loop(pool).run("abcdef"))
    lost = results.pop("b")
    assert isinstance(lost, LostItem)
    assert str(lost.error) == "given up: its worker died twice, the second time by SIGKILL"
    assert lost.error.hint
    assert results == {c: f"{c}!" for c in "acdef"}


def test_whoever_was_next_in_a_dead_worker_is_no_suspect() -> None:
    pool = Pretending({"a": ["die", "die"], "b": ["die"], "c": ["die"]})
    results = dict(loop(pool, 1).run("abcd"))
    assert isinstance(results["a"], LostItem)
    assert [results[c] for c in "bcd"] == ["b!", "c!", "d!"]


def test_an_item_that_goes_on_for_too_long_is_given_up() -> None:
    pool = Pretending({"a": ["hang"]})
    results = dict(loop(pool, 1, time_limit=60).run("abc"))
    assert isinstance(results["a"], LostItem)
    assert "longer than 60 s" in str(results["a"].error)
    assert [results["b"], results["c"]] == ["b!", "c!"]
    assert pool.hired == 2


def test_what_the_task_raises_is_raised_in_its_turn() -> None:
    pool = Pretending({"c": ["raise"]})
    run = loop(pool).run("abcd")
    assert [next(run), next(run)] == [("a", "a!"), ("b", "b!")]
    with pytest.raises(InputError, match="c"):
        next(run)
    assert pool.closed


def test_a_task_that_cannot_start_says_why() -> None:
    pool = Pretending(starts="raise")
    with pytest.raises(InputError, match="no model"):
        list(loop(pool).run("ab"))
    assert pool.closed


def test_workers_that_die_at_once_are_not_started_for_ever() -> None:
    pool = Pretending(starts="die")
    with pytest.raises(WorkerLost, match="6 workers in a row died before they could begin"):
        list(loop(pool).run("abcd"))


def test_closing_a_run_sends_everybody_home() -> None:
    pool = Pretending()
    run = loop(pool).run("abcd")
    next(run)
    run.close()
    assert pool.closed
