"""A process that forks while a thread of it has a store to itself, as some make their workers."""

import subprocess
import sys

_FORK = """
import os, sys, threading
from abstrag.errors import StoreError
from abstrag.stores.open import open_store

def child(inherited):
    try:
        inherited.documents()
    except StoreError as error:
        assert str(error).endswith("was opened by another process"), error
    else:
        raise AssertionError("the store of the parent was used")
    inherited.close()  # closes nothing: the connection is the parent's
    with open_store(sys.argv[1]) as own:
        assert own.recall("judgements", "c1", "m1", [b"parent"]) == {b"parent": b"v"}
        own.remember("judgements", "c1", "m1", {b"child": b"v"})

with open_store(sys.argv[1]) as store:
    store.remember("judgements", "c1", "m1", {b"parent": b"v"})
    busy, over = threading.Event(), threading.Event()

    def wait():  # with the connection to itself, and no call to the database under way
        lock = store._lock if hasattr(store, "_lock") else store._session._lock
        with lock.taken():
            busy.set()
            over.wait()

    waiting = threading.Thread(target=wait)
    waiting.start()
    busy.wait()
    made = os.fork()
    if not made:
        try:
            child(store)
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(made, 0)[1] == 0
    over.set()
    waiting.join()
    assert len(store.recall("judgements", "c1", "m1", [b"parent", b"child"])) == 2
    store.check()
"""


def fork_over(target: str) -> int:
    """Fork while a store is taken, and return the exit code of the process that did."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", _FORK, target]
    return subprocess.run(command, timeout=120, check=False).returncode
