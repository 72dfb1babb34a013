"""Short answers: the figure, the rows or the yes or no that a document's tables give.

The floors were chosen on tuning parts (docs/ask.md): what falls under them is not told.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from abstrag.engine.answers.calculate import Found, Reckoner
from abstrag.engine.answers.figures import Figure, figures_of
from abstrag.engine.answers.form import Form, wanted
from abstrag.engine.answers.lookup import Figures
from abstrag.engine.answers.names import wordings
from abstrag.engine.answers.records import Record, records
from abstrag.engine.answers.wording import shown
from abstrag.model.document import Document
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Query
from abstrag.model.ranking import Hit
from abstrag.search.query.instructions import read_request

COVERED: Final = 0.8  # of the weight of what is asked for that the names of a figure have to hold
EXACT: Final = 0.5  # of the weight of a row's own name that has to be asked for
ASSUMED: Final = 0.95  # of the question's weight, where it names no period and the latest is taken
LATER: Final = 0.03  # what a wording loses against the one before it
_SCALES: Final = {"": 1.0, "thousand": 1e3, "million": 1e6, "billion": 1e9}


@dataclass(frozen=True, slots=True)
class Tables:
    """What the tables of one document hold."""

    document: Document
    figures: Figures

    @classmethod
    def of(cls, document: Document) -> Tables:
        """Read the tables of a document."""
        return cls(document, Figures(figures_of(document), document.title))


def from_figures(
    tables: Tables, index: DocumentIndex, query: Query, hits: Sequence[Hit]
) -> Found | None:
    """Return the answer that figures give; None where it is not sure enough."""
    request = read_request(query.text)
    want = wanted(request.question)
    if want.form is Form.TEXT:
        return None
    segments = index.segments
    near = {
        (segments[hit.position].block, segments[hit.position].row or 0): 1.0
        for hit in hits
        if segments[hit.position].row is not None
    }
    best: Found | None = None
    for n, reading in enumerate(wordings(request.question, want, tables.figures)):
        found = Reckoner(tables.figures, request.question, reading, near).answer()
        if found is not None:
            found = replace(found, score=found.score - n * LATER)
            best = found if best is None or found.score > best.score else best
    if best is None or not sure(best):
        return None
    return _in_unit(best, query)


def sure(found: Found) -> bool:
    """Tell whether an answer from figures is sure enough to be told."""
    if found.covered < COVERED or found.exact < EXACT or found.margin <= 0:
        return False
    return not found.assumed or found.covered >= ASSUMED


def from_records(tables: Tables, query: Query) -> tuple[Record, ...]:
    """Return the rows of a table of records that answer."""
    return records(tables.document, read_request(query.text).question)


def _in_unit(found: Found, query: Query) -> Found:
    """Convert a figure into the unit that the answer is asked in."""
    unit = (query.answer_form.unit if query.answer_form else None) or ""
    asked = re.search(r"thousand|million|billion", unit, re.I)
    figure = found.used[0]
    if asked is None or found.form is not Form.NUMBER or len(found.used) > 1 or not figure.scale:
        return found
    scale = asked.group().casefold()
    if scale == figure.scale:
        return found
    value = abs(figure.value) * _SCALES[figure.scale] / _SCALES[scale]
    sign = "$" if figure.unit == "USD" or "USD" in unit or "$" in unit else ""
    return replace(
        found, text=f"{sign}{shown(value)} {scale}", formula=f"{figure.shown} in {scale}s"
    )


def told(found: Found) -> str:
    """Say a short answer in a sentence: what it is of, the period, and how it was reckoned."""
    names = list(dict.fromkeys(_clean(f.name) for f in found.used))
    when = list(dict.fromkeys(f.period for f in found.used if f.period))
    of = "; ".join(names) + (f" ({', '.join(when)})" if when else "")
    if found.form is Form.YES_NO:
        return f"{found.text}: {'; '.join(names)}, {found.formula}."
    if found.formula:
        return f"{found.text} = {found.formula}: {of}."
    return f"{found.text}: {of}."


def _clean(name: str) -> str:
    return " ".join(name.replace(":", " ").split()).rstrip(" .")


def cells_of(figures: Sequence[Figure]) -> list[Figure]:
    """Return the cells an answer rests on, each once."""
    return list({(one.block, one.row, one.column): one for one in figures}.values())
