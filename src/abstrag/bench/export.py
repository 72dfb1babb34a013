"""Runs and relevance judgements in TREC's formats, for other people's tools."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from abstrag.bench.run_folder import RunFolder


def export_trec(run: Path, out: Path | None = None) -> tuple[Path, ...]:
    """Write `SYSTEM.run` for each system and one `qrels.txt`; white space in ids becomes %20.

    TREC tools order a run by score and break ties in ways of their own, so the score written is
    one that falls with the rank; the system's own are in the records.
    """
    folder = out or run / "trec"
    folder.mkdir(parents=True, exist_ok=True)
    runs: dict[str, list[str]] = {}
    gold: dict[str, tuple[str, ...]] = {}
    for one in RunFolder(run).records():
        gold.setdefault(one.case_id, one.gold)
        for rank, span in enumerate(one.ranked, 1):
            line = f"{_word(one.case_id)} Q0 {_word(span)} {rank} {len(one.ranked) - rank + 1}"
            runs.setdefault(one.system, []).append(f"{line} {_word(one.system)}\n")
    written = []
    for system, lines in runs.items():
        path = folder / f"{quote(system, safe='@')}.run"
        path.write_text("".join(lines), "utf-8")
        written.append(path)
    qrels = folder / "qrels.txt"
    rows = (f"{_word(c)} 0 {_word(s)} 1\n" for c, spans in gold.items() for s in spans)
    qrels.write_text("".join(rows), "utf-8")
    return (*written, qrels)


def _word(text: str) -> str:
    return "".join(quote(c) if c.isspace() else c for c in text)
