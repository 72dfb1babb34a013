"""Tasks that worker processes of the tests can import."""

import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from abstrag.config import DocumentBudget
from abstrag.workers.protocol import tell, within


@dataclass(frozen=True)
class Squaring:
    """Squares numbers; strings are orders."""

    folder: Path | None = None

    def start(self) -> Callable[[Any], Any]:
        if self.folder is not None:
            (self.folder / f"{os.getpid()}").touch(exist_ok=False)  # a second start would fail
        return self.perform

    def perform(self, item: Any) -> Any:
        if item == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if item == "die once":
            assert self.folder is not None
            mark = self.folder / "died"
            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return "alive"
        if item == "hang":
            threading.Event().wait()
        if item == "spin":
            with within(DocumentBudget(cpu_seconds=0.1)):
                while True:
                    pass
        if item == "eat":
            with within(DocumentBudget(memory_bytes=64 * 2**20)):
                return len(bytearray(2**30))
        if item == "raise":
            raise Odd(1, 2)
        if item == "function":
            return lambda: None
        return int(item) ** 2


class Cores:
    """A task that tells how many cores numpy was told to use."""

    def start(self) -> Callable[[str], str]:
        return os.environ.__getitem__


class Talking:
    """A task that tells how far it is."""

    def start(self) -> Callable[[str], str]:
        return self.perform

    def perform(self, item: str) -> str:
        tell("half")
        tell("all")
        return item.upper()


class Odd(Exception):
    """An error that cannot be unpickled: it is made from two values and keeps one."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(first + second)


class Unstartable:
    """A task whose models are not there."""

    def start(self) -> Callable[[int], int]:
        raise FileNotFoundError("no such model")
