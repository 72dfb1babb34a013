"""Figures looked up and reckoned with: a number, a change, a share, an average, yes or no.

Each answer has its formula and the cells it is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from abstrag.answers.question_form import FigureComparison, Form, QuestionTarget, stems
from abstrag.answers.tables.figures import (
    Figures,
    Row,
    TableFigure,
    in_period,
    is_named,
    is_whole,
    listed,
    plain,
    shown,
    when,
    with_scale,
    yes_or_no,
)

_NEAR_ROWS: Final = 5
_FEW: Final = 4  # periods that an average without named ones may have
_FITS: Final = 0.1  # what a row gains that has figures of the very spell or date
_ASSUMED: Final = 0.85  # of the score, where the question names no period and the latest is taken


@dataclass(frozen=True, slots=True)
class CalculatedAnswer:
    """A short answer from figures: its words, its formula, the cells used, and how surely.

    `covered`, `bare` and `exact` are those of the weakest row, `margin` the lead over another row
    that would give another answer.
    """

    form: Form
    text: str
    used: tuple[TableFigure, ...]
    score: float
    formula: str = ""
    covered: float = 1.0
    bare: float = 1.0
    exact: float = 1.0
    margin: float = 1.0
    assumed: bool = False  # the period is not the question's own
    wording: int = 0  # which of the readings of the question it is of


@dataclass(frozen=True, slots=True)
class _Line:
    """A row that was decided on, with how sure that is."""

    row: Row
    margin: float


Near = Mapping[tuple[int, int], float]


class Calculator:
    """Answers one question from the figures of a document."""

    def __init__(self, figures: Figures, question: str, want: QuestionTarget, near: Near) -> None:
        self._figures = figures
        self._want = want
        self._near = near
        self._words = stems(question)

    def answer(self) -> CalculatedAnswer | None:
        """Return the answer; None where no figure fits or several do."""
        ways: dict[Form, Callable[[], CalculatedAnswer | None]] = {
            Form.NUMBER: self._number,
            Form.CHANGE: self._change,
            Form.PERCENT_CHANGE: self._change,
            Form.SHARE: self._two,
            Form.RATIO: self._two,
            Form.DIFFERENCE: self._two,
            Form.AVERAGE: self._average,
            Form.SUM: self._sum,
            Form.PERIOD: self._period,
            Form.COUNT: self._period,
            Form.YES_NO: self._yes_no,
        }
        way = ways.get(self._want.form)
        return way() if way else None

    def _line(
        self, name: str, *, block: int | None = None, years: Sequence[str] = ()
    ) -> _Line | None:
        """Decide on the row a name means; those of one block only where one is given."""
        rows = self._figures.find(name, near=self._near, most=_NEAR_ROWS * 4)
        if block is not None:
            rows = [row for row in rows if row.figures[0].block == block]
        asked = set(years)
        rows = [r for r in rows if not asked or asked <= {y for f in r.figures for y in f.years}]
        if not rows:
            return None
        rows.sort(key=lambda row: (-row.score - _FITS * self._fits(row), row.key))
        best = rows[0]
        told = {abs(f.value) for f in self._of(best, years)}
        others = [r for r in rows[1:] if not told & {abs(f.value) for f in self._of(r, years)}]
        margin = best.score - others[0].score if others else best.score
        if others and self._fits(best) and not self._fits(others[0]):
            margin += _FITS
        return _Line(best, margin)

    def _fits(self, row: Row) -> bool:
        """Tell whether a row has figures of the spell and the date that the question names.

        A year alone is named as the whole year.
        """
        if self._want.years and not self._want.parts and not self._want.dates:
            return any(is_whole(figure) for figure in self._of(row, self._want.years))
        spells = {part for part in self._want.parts if part[0].isdecimal()}
        if not spells and not self._want.dates:
            return False
        return any(
            spells <= figure.parts
            and (not self._want.dates or set(self._want.dates) & set(figure.dates))
            for figure in row.figures
        )

    def _of(self, row: Row, years: Sequence[str]) -> list[TableFigure]:
        dates = self._want.dates if len(self._want.dates) == 1 else ()
        return in_period(row, years, self._want.parts, self._words, dates)

    def _on(self, row: Row, date: str) -> TableFigure | None:
        """Return the one figure of a row and date."""
        parts = frozenset(part for part in self._want.parts if part[0].isdecimal())
        fit = in_period(row, [date[:4]], parts, self._words, [date])
        fit = [figure for figure in fit if date in figure.dates]
        return fit[0] if len({figure.value for figure in fit}) == 1 else None

    def _one(self, row: Row, year: str | None) -> TableFigure | None:
        """Return the one figure of a row and year, None where there are several different ones."""
        fit = self._of(row, [year] if year else [])
        if len({f.value for f in fit}) > 1:
            total = [f for f in fit if "total" in stems(" ".join(f.above))]
            if len({f.value for f in total}) == 1:
                return total[0]
            wide = [f for f in fit if f.unit != "%"]
            fit = (
                wide
                if len({f.value for f in wide}) == 1 and self._want.form is not Form.SHARE
                else fit
            )
        return fit[0] if len({f.value for f in fit}) == 1 else None

    def _years(self, row: Row) -> list[str]:
        """Return the years a row has one figure each of, in order of time."""
        named = sorted({y for f in row.figures for y in f.years})
        return [year for year in named if self._one(row, year) is not None]

    def _found(
        self,
        form: Form,
        text: str,
        used: Sequence[TableFigure],
        lines: Sequence[_Line],
        *,
        formula: str = "",
        assumed: bool = False,
    ) -> CalculatedAnswer:
        score = min(line.row.score for line in lines) * (_ASSUMED if assumed else 1.0)
        return CalculatedAnswer(
            form,
            text,
            tuple(used),
            score,
            formula,
            covered=min(line.row.covered for line in lines),
            bare=min(line.row.bare for line in lines),
            exact=min(line.row.exact for line in lines),
            margin=min(line.margin for line in lines),
            assumed=assumed,
        )

    def _number(self) -> CalculatedAnswer | None:
        line = self._line(self._want.measures[0], years=self._want.years)
        if line is None:
            return None
        asked = list(self._want.years)
        assumed = False
        if not asked:
            known = self._years(line.row)
            if len(known) > 1:
                asked, assumed = known[-1:], True
        used = [self._one(line.row, year) for year in asked or [None]]  # type: ignore[list-item]
        figures = [figure for figure in used if figure is not None]
        if not figures or len(figures) < len(used):
            return None
        return self._found(
            Form.NUMBER, ", ".join(f.shown for f in figures), figures, [line], assumed=assumed
        )

    def _pair(self, row: Row) -> tuple[TableFigure, TableFigure, bool] | None:
        """Return the figures of the earlier and the later period that are compared."""
        if len(self._want.dates) > 1:
            early, late = sorted(self._want.dates)[:: len(self._want.dates) - 1]
            before, after = self._on(row, early), self._on(row, late)
            if before and after:
                return before, after, False
        quarters = sorted(part for part in self._want.parts if part[0] == "q")
        if len(quarters) == 2 and len(self._want.years) < 2:
            early_one, late_one = (self._in_quarter(row, one) for one in quarters)
            return (early_one, late_one, False) if early_one and late_one else None
        known = self._years(row)
        asked = sorted(self._want.years)
        assumed = False
        if len(asked) == 1 and asked[0] in known and known.index(asked[0]) > 0:
            asked = [known[known.index(asked[0]) - 1], asked[0]]
        elif not asked and len(known) >= 2:
            assumed = len(known) > 2
            asked = known[-2:]
        if len(asked) < 2:
            return None
        first, last = self._one(row, asked[0]), self._one(row, asked[-1])
        return (first, last, assumed) if first and last else None

    def _in_quarter(self, row: Row, quarter: str) -> TableFigure | None:
        """Return the one figure of a row and quarter."""
        asked = set(self._want.years)
        fit = [
            figure
            for figure in row.figures
            if quarter in figure.parts and (not asked or asked & set(figure.years))
        ]
        return fit[0] if len({figure.value for figure in fit}) == 1 else None

    def _change(self) -> CalculatedAnswer | None:
        direct = self._line(
            f"{self._want.measures[0]} {self._want.form.value}", years=self._want.years
        )
        line = self._line(self._want.measures[0], years=self._want.years)
        if (
            direct is not None
            and is_named(direct.row, ("change", "increase", "decrease", "growth"))
            and (line is None or direct.row.score > line.row.score + 0.1)
        ):
            return None  # the change itself may be printed: not ours to compute
        if line is None:
            return None
        if is_named(
            line.row, ("change", "increase", "decrease", "growth")
        ):  # it is printed as such
            return self._number() if len(self._want.years) < 2 else None
        pair = self._pair(line.row)
        if pair is None:
            return None
        first, last, assumed = pair
        if first.unit == last.unit == "%":
            value = last.value - first.value
            formula = f"{plain(last)} − {plain(first)}"
            text = f"{shown(value)} percentage points"
        elif self._want.form is Form.PERCENT_CHANGE:
            if first.value == 0:
                return None
            value = 100 * (last.value - first.value) / abs(first.value)
            formula = f"({plain(last)} − {plain(first)}) / {plain(first, positive=True)}"
            text = f"{shown(value)} %"
        else:
            value = last.value - first.value
            formula = f"{plain(last)} − {plain(first)}"
            text = with_scale(value, last)
        return self._found(
            self._want.form, text, (first, last), [line], formula=formula, assumed=assumed
        )

    def _two(self) -> CalculatedAnswer | None:
        a_name, b_name = self._want.measures
        years = self._want.years[-1:]
        a = self._line(a_name, years=years)
        if a is None:
            return None
        b = self._line(b_name, block=a.row.figures[0].block, years=years)
        whole = self._line(b_name, years=years)
        if b is None or (whole is not None and whole.row.score > b.row.score + 0.15):
            b = whole
        if b is None or a.row.key == b.row.key:
            return None
        common = [y for y in self._years(a.row) if y in self._years(b.row)]
        year = years[0] if years else common[-1] if common else None
        assumed = not years and len(common) > 1
        first, second = self._one(a.row, year), self._one(b.row, year)
        if first is None or second is None or second.value == 0:
            return None
        if self._want.form is Form.DIFFERENCE:
            text, sign = with_scale(first.value - second.value, first), "−"
        elif self._want.form is Form.SHARE:
            text, sign = f"{shown(100 * first.value / second.value)} %", "/"
        else:
            text, sign = shown(first.value / second.value), "/"
        formula = f"{plain(first)} {sign} {plain(second)}"
        return self._found(
            self._want.form, text, (first, second), [a, b], formula=formula, assumed=assumed
        )

    def _average(self) -> CalculatedAnswer | None:
        line = self._line(self._want.measures[0], years=self._want.years)
        if line is None:
            return None
        known = self._years(line.row)
        asked = list(self._want.years) if len(self._want.years) > 1 else known
        if is_named(line.row, ("average", "mean")) and len(self._want.years) < 2:
            return self._number()
        if len(self._want.years) == 2:  # "between 2017 and 2019" is of three years
            low, high = sorted(self._want.years)
            asked = [year for year in known if low <= year <= high]
        if not 2 <= len(asked) <= _FEW or not set(asked) <= set(known):
            return None
        used = [figure for year in asked if (figure := self._one(line.row, year)) is not None]
        value = sum(f.value for f in used) / len(used)
        formula = f"({' + '.join(map(plain, used))}) / {len(used)}"
        assumed = len(self._want.years) < 2 and len(known) > 2
        return self._found(
            Form.AVERAGE,
            with_scale(value, used[0]),
            used,
            [line],
            formula=formula,
            assumed=assumed,
        )

    def _sum(self) -> CalculatedAnswer | None:
        name, _, other = self._want.measures[0].partition(" and ")
        years = self._want.years
        if len(years) > 1:
            line = self._line(self._want.measures[0], years=years)
            lines = [line] if line else []
            used = [self._one(line.row, year) for year in years] if line else []
        else:
            found = [self._line(one, years=years) for one in (name, other) if one]
            lines = [one for one in found if one is not None]
            used = [self._one(one.row, years[0] if years else None) for one in lines]
            if len(found) < 2 or len(lines) < 2 or lines[0].row.key == lines[1].row.key:
                return None
        figures = [figure for figure in used if figure is not None]
        if len(figures) < max(2, len(used)):
            return None
        formula = " + ".join(map(plain, figures))
        value = sum(f.value for f in figures)
        return self._found(Form.SUM, with_scale(value, figures[0]), figures, lines, formula=formula)

    def _period(self) -> CalculatedAnswer | None:
        """Say in which periods a figure is largest or beyond a limit, or how many these are."""
        want = self._want
        line = self._line(want.measures[0], years=want.years if len(want.years) > 1 else ())
        if line is None:
            return None
        if want.comparison is None:
            return self._periods(line) if want.listed else None
        known = [y for y in self._years(line.row) if len(want.years) < 2 or y in want.years]
        used = [figure for year in known if (figure := self._one(line.row, year)) is not None]
        if len(used) < 2:
            return None
        if (
            want.comparison in (FigureComparison.MORE, FigureComparison.LESS)
            and want.limit is not None
        ):
            more = want.comparison is FigureComparison.MORE
            limit = want.limit
            chosen = [f for f in used if (abs(f.value) > limit if more else abs(f.value) < limit)]
        elif want.comparison in (
            FigureComparison.MOST,
            FigureComparison.LEAST,
            FigureComparison.MORE,
            FigureComparison.LESS,
        ):
            if want.form is Form.COUNT:
                return None
            most = want.comparison in (FigureComparison.MOST, FigureComparison.MORE)
            best = (max if most else min)(used, key=lambda f: abs(f.value))
            chosen = [best]
        else:
            return None
        if want.form is Form.COUNT:
            return self._found(want.form, str(len(chosen)), used, [line], formula=listed(used))
        if not chosen:
            return None
        text = ", ".join(map(when, chosen))
        return self._found(want.form, text, used, [line], formula=listed(used))

    def _periods(self, line: _Line) -> CalculatedAnswer | None:
        """List the periods that a row has figures of, as its table has them."""
        figures = list({f.period: f for f in line.row.figures if f.years}.values())
        if not figures:
            return None
        return self._found(Form.PERIOD, ", ".join(f.years[0] for f in figures), figures, [line])

    def _yes_no(self) -> CalculatedAnswer | None:
        """Say whether a figure rose, fell, changed or is beyond a limit."""
        want = self._want
        if want.comparison is None:
            return None
        line = self._line(want.measures[0], years=want.years)
        if line is None:
            return None
        if want.limit is not None and want.comparison in (
            FigureComparison.MORE,
            FigureComparison.LESS,
        ):
            one = self._one(line.row, want.years[0] if want.years else None)
            if one is None:
                return None
            holds = (abs(one.value) > want.limit) is (want.comparison is FigureComparison.MORE)
            return self._found(want.form, yes_or_no(holds), (one,), [line], formula=listed((one,)))
        pair = self._pair(line.row)
        moves = (FigureComparison.RISE, FigureComparison.FALL, FigureComparison.CHANGE)
        if pair is None or want.comparison not in moves:
            return None
        first, last, assumed = pair
        rose = last.value - first.value
        moved = {FigureComparison.RISE: rose > 0, FigureComparison.FALL: rose < 0}
        holds = moved.get(want.comparison, rose != 0)
        return self._found(
            want.form,
            yes_or_no(holds),
            (first, last),
            [line],
            formula=listed((first, last)),
            assumed=assumed,
        )
