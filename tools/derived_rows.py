"""Measure whether a question for a derived figure finds all rows that the figure is made of.

    python tools/derived_rows.py FILING.pdf... [--store filings.db]

For each derived figure of the names of line items (margins, ratios, growth, days outstanding) and
each filing, "What was the FIGURE of COMPANY?" is asked. The rows it needs are those that the
filing's primary statements print under the names that the figure is made of. A figure is found when
the best row of each such name is among the first ten hits.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from abstrag.documents.header import cover_lines, read_cover
from abstrag.search.query.finance import StatementRows, finance_terms
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace

FIRST: Final = 10
FIGURES: Final = (
    "gross margin",
    "operating margin",
    "net profit margin",
    "quick ratio",
    "current ratio",
    "inventory turnover",
    "days inventory outstanding",
    "days sales outstanding",
    "days payable outstanding",
    "cash conversion cycle",
    "asset turnover",
    "return on assets",
    "return on equity",
    "dividend payout ratio",
    "free cash flow",
    "working capital",
    "revenue growth",
)


def main() -> None:
    """Ask for every figure of every filing, and print which rows are missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--store", default=":memory:", help="keeps indexes from run to run")
    given = parser.parse_args()
    asked = found = 0
    with Workspace(WorkspaceConfig(given.store)) as workspace:
        for path in given.files:
            document = workspace.document(path)
            index = document.index
            cover = read_cover(cover_lines(index.document.text, index.document.blocks))
            company = cover.company if cover else index.document.title
            rows = StatementRows(index.segments)
            for figure in FIGURES:
                needed = [rows((name,)) for name in finance_terms().printed[figure]]
                needed = [positions for positions in needed if positions]
                if not needed:
                    continue
                question = f"What was the {figure} of {company}?"
                hits = {hit.position for hit in document.search(question, k=FIRST).hits}
                missing = [positions for positions in needed if hits.isdisjoint(positions)]
                asked, found = asked + 1, found + (not missing)
                for positions in missing:
                    row = index.segments[positions[0]].text[:60].replace("\t", " ")
                    print(f"{path.name}: {figure!r} lacks {row!r}")
    print(f"{found} of {asked} figures have all their rows among the first {FIRST} hits")


if __name__ == "__main__":
    main()
