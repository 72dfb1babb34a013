"""What stands above the tables of a report, whatever the format."""

from __future__ import annotations

from abstrag.bench.summary import Summary


def headline(summary: Summary) -> list[str]:
    """Return the title and the lines under it."""
    run = summary.manifest
    subset = []
    if run.sample is not None:
        balanced = f", balanced by {run.balance}" if run.balance else ""
        subset.append(f"a sample of {run.sample}{balanced} (seed {run.seed})")
    if run.limit is not None:
        subset.append(f"the first {run.limit}")
    chosen = f" ({', '.join(subset)})" if subset else ""
    lines = [
        f"{run.dataset}, split {run.split}",
        f"{run.cases} cases{chosen}, {run.with_gold} with gold evidence. "
        f"Reference system: {summary.reference}. abstrag {run.version}.",
    ]
    lines += [f"Note: {note}." for note in run.notes]
    if any(line.missing for line in summary.systems):
        lines.append("Provisional: some cases have not been scored yet; see the table of systems.")
    return lines
