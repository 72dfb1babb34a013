"""Write SciFact's abstracts as Markdown files, so that they can be indexed like any folder.

    python tools/write_scifact.py corpus.jsonl FOLDER [--limit N]

The title is the heading, the sentences of the abstract are one paragraph, and a file is called by
the abstract's number.
"""

from __future__ import annotations

import argparse
import json
from itertools import islice
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    count = 0
    with given.corpus.open(encoding="utf-8") as lines:
        for line in islice(lines, given.limit):
            abstract = json.loads(line)
            words = " ".join(sentence.strip() for sentence in abstract["abstract"])
            text = f"# {abstract['title'].strip()}\n\n{words}\n"
            (given.folder / f"{abstract['doc_id']}.md").write_text(text, "utf-8")
            count += 1
    print(f"{count} files in {given.folder}")


if __name__ == "__main__":
    main()
