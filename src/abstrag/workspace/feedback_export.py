"""Feedback as training cases: lines of a pack, a document before the queries about it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from abstrag.errors import InputError, UnknownDocument
from abstrag.workspace.workspace import Workspace


def pack_lines(workspace: Workspace) -> Iterator[dict[str, Any]]:
    """Go through the lines of a pack: every document with feedback on hits, then its cases.

    A case needs a segment that a person called evidence. Documents that are no longer in the store,
    and segments that a document no longer has, are left out.
    """
    by_document: dict[str, list[tuple[str, tuple[str, ...], tuple[str, ...]]]] = {}
    for episode in workspace.patches.ledger.feedback():
        said = episode.query, episode.gold, episode.bad
        by_document.setdefault(episode.target, []).append(said)
    number = 0
    for name, given in by_document.items():
        try:
            index = workspace.edited(name)
        except UnknownDocument:
            continue
        places = {s.id: i for i, s in enumerate(index.segments)}
        places |= {s.text: i for i, s in enumerate(index.segments)}
        cases = []
        for query, good, bad in given:
            gold = sorted({places[one] for one in good if one in places})
            wrong = sorted({places[one] for one in bad if one in places})
            if gold:
                number += 1
                cases.append(
                    {"doc": name, "id": number, "query": query, "gold": gold, "bad": wrong}
                )
        if cases:
            texts = [segment.text for segment in index.segments]
            yield {"doc": name, "title": index.document.title, "segments": texts}
            yield from cases


def export_packs(workspace: Workspace, path: Path) -> int:
    """Write feedback as a pack that `abstrag bench --dataset packs` reads; returns the cases.

    Raises:
        InputError: There is no feedback on hits, or the file cannot be written.
    """
    lines = list(pack_lines(workspace))
    cases = sum("query" in line for line in lines)
    if not cases:
        raise InputError(
            "no feedback names a segment that is evidence",
            hint='abstrag feedback report.pdf "Who paid?" --good s12',
        )
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    try:
        if path.suffix == ".gz":
            path.write_bytes(gzip.compress(text.encode(), mtime=0))
        else:
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written: {error}") from error
    return cases
