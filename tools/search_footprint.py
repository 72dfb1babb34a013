"""What a search goes through: files entered, functions called, stores opened.

    python tools/search_footprint.py                     # this checkout
    python tools/search_footprint.py --src ../old/src    # another one, for a before and after

A document is indexed into a store of its own and asked once, so that everything is loaded. Then a
question that nobody has asked before is put to it through the command line, in the same process,
and every call into the package is counted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent / "src"
PROBE = r"""
import io, json, sqlite3, sys, threading
from contextlib import redirect_stdout
from collections import Counter
from importlib.resources import as_file, files
from pathlib import Path

folder, root = Path(sys.argv[1]), sys.argv[2]
opened = 0
connect = sqlite3.connect
def counted(*args, **given):
    global opened
    opened += str(args[0]).endswith("store.db")
    return connect(*args, **given)
sqlite3.connect = counted

from abstrag.cli.main import cli

def ask(question):
    out = io.StringIO()
    with redirect_stdout(out):
        args = ["search", "chips", question, "--store", str(folder / "store.db"), "--json"]
        cli.main(args, prog_name="abstrag", standalone_mode=False)
    return json.loads(out.getvalue())

with as_file(files("abstrag.data") / "demo" / "chips.md") as path, redirect_stdout(io.StringIO()):
    cli.main(
        ["index", str(path), "--store", str(folder / "store.db")],
        prog_name="abstrag", standalone_mode=False,
    )
ask("Who visited TSMC?")
opened = 0
functions = Counter()
def profile(frame, event, _arg):
    if event == "call" and frame.f_code.co_filename.startswith(root):
        functions[frame.f_code.co_filename, frame.f_code.co_qualname] += 1
threading.setprofile(profile); sys.setprofile(profile)
found = ask("Which executives travelled to Taiwan in spring?")
sys.setprofile(None); threading.setprofile(None)
print(json.dumps({
    "hits": len(found["hits"]),
    "files": len({name for name, _ in functions}),
    "functions": len(functions),
    "calls": sum(functions.values()),
    "openings": opened,
    "entered": sorted({name[len(root) + 1:] for name, _ in functions}),
}))
"""


def footprint(source: Path) -> dict[str, Any]:
    """Count what one search enters, in a process that runs the code at `source`."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "PYTHONPATH": str(source),
            "XDG_DATA_HOME": folder,
            "ABSTRAG_POLICY": str(Path(folder) / "policy"),
        }
        package = str(source / "abstrag")
        done = subprocess.run(
            [sys.executable, "-c", PROBE, folder, package],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        sys.exit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--src", type=Path, default=HERE, help="the folder that holds abstrag/")
    parser.add_argument("--files", action="store_true", help="list the files, too")
    given = parser.parse_args()
    source = given.src.resolve()
    found = footprint(source)
    print(f"a search for a new question: {found['hits']} hits")
    print(f"  files entered      {found['files']}")
    print(f"  functions entered  {found['functions']}")
    print(f"  calls              {found['calls']}")
    print(f"  store openings     {found['openings']}")
    if given.files:
        print("\n".join(found["entered"]))


if __name__ == "__main__":
    main()
