"""What tables answer without a model: a figure, a reckoning, yes or no, the rows of a list."""

from pathlib import Path

import pytest

from abstrag import AbstRAG
from abstrag.engine.answer import READ, RECKONED, answer
from abstrag.engine.answers.citable import citable
from abstrag.engine.answers.form import Form, wanted
from abstrag.engine.extractive import choose
from abstrag.engine.searcher import Searcher
from abstrag.model.answer import Answer
from abstrag.search.relevance import FAST

REPORT = """<html><head><title>Ardent Steel annual report</title></head><body>
<h1>Ardent Steel annual report</h1><h2>Consolidated Statements of Income (in millions)</h2>
<table>
<tr><th></th><th>2021</th><th>2020</th></tr>
<tr><td>Net sales</td><td>$ 1,200</td><td>$ 1,000</td></tr>
<tr><td>Cost of sales</td><td>700</td><td>650</td></tr>
<tr><td>Gross profit</td><td>500</td><td>350</td></tr>
<tr><td>Operating income</td><td>240</td><td>150</td></tr>
<tr><td>Net loss from discontinued operations</td><td>(30)</td><td>(10)</td></tr>
</table>
<h2>Plants</h2>
<table>
<tr><th>Year</th><th>Plant</th><th>Manager</th></tr>
<tr><td>1987</td><td>Leeds</td><td>Mary Collins</td></tr>
<tr><td>1999</td><td>Turin</td><td>Paolo Rossi</td></tr>
</table>
<h2>References</h2>
<p>Collins, M. 1999. Steel in the north. Journal of Metals 3(2): 11.</p>
</body></html>"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(REPORT, "utf-8")
    rag = AbstRAG(":memory:", preset=FAST)
    rag.index(Path(path))
    return rag.open().searcher


def asked(report: Searcher, question: str) -> Answer:
    """Ask, and see that every quotation stands where it says."""
    made = answer(report, question)
    text = report.index.document.text
    for one in made.citations:
        assert text[one.span.start : one.span.end] == one.quote
    return made


@pytest.mark.parametrize(
    ("question", "text", "formula", "cells"),
    [
        ("What were net sales in 2020?", "$1,000 million", "", ["$ 1,000"]),
        (
            "By what percentage did net sales grow from 2020 to 2021?",
            "20 %",
            "(1,200 − 1,000) / 1,000",
            ["$ 1,000", "$ 1,200"],
        ),
        ("How much did gross profit change in 2021?", "150 million", "500 − 350", ["350", "500"]),
        (
            "What was gross profit as a percentage of net sales in 2021?",
            "41.67 %",
            "500 / 1,200",
            ["500", "$ 1,200"],
        ),
        ("What was the operating margin in 2021?", "20 %", "240 / 1,200", ["240", "$ 1,200"]),
        (
            "What was the average cost of sales for 2020 and 2021?",
            "675 million",
            "(650 + 700) / 2",
            ["650", "700"],
        ),
    ],
)
def test_a_figure_is_looked_up_or_reckoned_and_its_cells_are_cited(
    report: Searcher, question: str, text: str, formula: str, cells: list[str]
) -> None:
    made = asked(report, question)
    assert made.short is not None
    assert (made.short.text, made.short.formula) == (text, formula)
    assert [one.quote for one in made.citations] == cells
    assert made.note == (RECKONED if formula else READ)
    assert text in made.text


def test_yes_or_no_comes_with_the_figures_it_rests_on(report: Searcher) -> None:
    made = asked(report, "Did cost of sales decrease from 2020 to 2021?")
    assert made.short is not None
    assert made.short.text == "No"
    assert [one.quote for one in made.citations] == ["650", "700"]


def test_a_year_is_told_where_one_is_asked_for(report: Searcher) -> None:
    made = asked(report, "In which year was operating income higher?")
    assert made.short is not None
    assert made.short.text == "2021"


def test_the_rows_of_a_list_are_told_with_their_heads(report: Searcher) -> None:
    made = asked(report, "Who was the manager of the plant in Turin?")
    assert made.short is not None
    assert "Manager: Paolo Rossi" in made.short.text
    assert made.sentences[0].citations == (1, 2, 3)


@pytest.mark.parametrize(
    "question",
    [
        "What were net sales in 2015?",
        "What was the advertising expense in 2021?",
        "How many employees were there in 2021?",
        "What was the net sales of Boris Petrov in 2021?",
    ],
)
def test_what_no_table_prints_is_not_told_as_a_figure(report: Searcher, question: str) -> None:
    assert asked(report, question).short is None


def test_an_entry_of_a_bibliography_is_never_quoted(report: Searcher) -> None:
    entry = next(s for s in report.index.segments if "Journal of Metals" in s.text)
    assert not citable(entry)
    made = asked(report, "Who wrote about steel in the north?")
    assert "Journal" not in made.text


def test_the_judge_decides_which_sentence_is_quoted(report: Searcher) -> None:
    ranking = report.search("Which plant is in Leeds?", k=3)
    assert choose(report.index, ranking.query, (), reads=lambda _q, texts: [0.9] * len(texts)) == []


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("What was the percentage change in revenue between 2018 and 2019?", Form.PERCENT_CHANGE),
        ("What is the % change in prepaid services from 2018 to 2019?", Form.PERCENT_CHANGE),
        ("What is the ratio of debt to equity?", Form.RATIO),
        ("How many years did net sales exceed $500 million?", Form.COUNT),
        ("What was the change in the weighted average price from 2017 to 2018?", Form.CHANGE),
        ("Why did revenue fall in 2019?", Form.TEXT),
        ("What drove the increase in inventories?", Form.TEXT),
        ("Did revenue grow?", Form.YES_NO),
        ("What was the total amount of capitalized interest in 2018 and 2019?", Form.SUM),
        ("How much was spent on rent?", Form.NUMBER),
    ],
)
def test_a_question_is_read_for_the_form_of_its_answer(question: str, form: Form) -> None:
    assert wanted(question).form is form
