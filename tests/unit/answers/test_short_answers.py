"""What tables answer without a model: a figure, a reckoning, yes or no, the rows of a list."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from abstrag import AbstRAG
from abstrag.answers.answer import READ, RECKONED, AskedDocument, answer, answer_of_many
from abstrag.answers.citations import CitedPassage
from abstrag.answers.proposals import AnswerWay, packaged_confidence
from abstrag.answers.question_form import Form, wanted
from abstrag.answers.quotable import citable, lists_contents
from abstrag.answers.sentences import read_sentences
from abstrag.answers.tables.figures import figures_of
from abstrag.answers.tables.rows import row_sets, years_named
from abstrag.answers.verdicts import SIDE_FLOOR
from abstrag.documents.load import load_bytes
from abstrag.engine.searcher import Searcher
from abstrag.model.answer import Answer
from abstrag.model.query import Query
from abstrag.model.segment import Segment
from abstrag.search.relevance import DEFAULT_PRESET, FAST

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


@pytest.mark.parametrize(("judged", "told"), [(SIDE_FLOOR, True), (SIDE_FLOOR - 0.01, False)])
def test_among_many_documents_a_figure_needs_a_passage_that_is_evidence(
    report: Searcher, judged: float, told: bool
) -> None:
    def judge(query: Query, segments: Sequence[Segment]) -> list[float]:
        del query
        return [judged] * len(segments)

    searcher = Searcher(report.index, preset=DEFAULT_PRESET, judge=judge)
    question = "What were net sales in 2020?"
    alone = answer(searcher, question)
    assert alone.short is not None
    ranking = searcher.search(question, k=3)
    found = [(searcher.index, hit) for hit in ranking.hits]
    made = answer_of_many(ranking.query, [AskedDocument(searcher, 1.0)], found)
    assert made.found is told
    assert not told or made == alone


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


@pytest.mark.parametrize(
    "heading", ["Footnotes", "See also", "External links", "Citations", "Further reading"]
)
def test_what_a_web_page_only_links_to_is_never_quoted(tmp_path: Path, heading: str) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        "<html><body><h1>Leeds</h1><p>The museum of steel opened in 1987. Plans hang "
        f"there since 2010.</p><h2>{heading}</h2><ul><li>The museum of steel in Leeds</li></ul>"
        "<h2>Notes</h2><p>The roof leaks. Retrieved March 21, 2010.</p></body></html>",
        "utf-8",
    )
    rag = AbstRAG(":memory:", preset=FAST)
    rag.index(path)
    told = {one.text for one in rag.open().index.segments if citable(one)}
    assert "The museum of steel opened in 1987." in told
    assert "Plans hang there since 2010." in told
    assert not told & {"The museum of steel in Leeds", "Retrieved March 21, 2010."}
    assert "The roof leaks." in told


def opened(tmp_path: Path, body: str) -> Searcher:
    path = tmp_path / "page.html"
    path.write_text(f"<html><body>{body}</body></html>", "utf-8")
    rag = AbstRAG(":memory:", preset=FAST)
    rag.index(path)
    return rag.open().searcher


def table(*rows: str) -> str:
    lines = ("".join(f"<td>{cell}</td>" for cell in row.split("|")) for row in rows[1:])
    heads = "".join(f"<th>{cell}</th>" for cell in rows[0].split("|"))
    return f"<table><tr>{heads}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def test_a_line_of_a_list_of_contents_is_no_answer(tmp_path: Path) -> None:
    lines = ("Item|Page", "Our executive officers|9", "Our plants|12", "Our dividends|30")
    page = opened(tmp_path, f"<h1>Table of contents</h1>{table(*lines)}<h2>Plants</h2><p>Two.</p>")
    assert asked(page, "How many executive officers are there?").short is None
    assert figures_of(page.index.document) == ()
    assert row_sets(page.index.document, "Who are our executive officers?", None) == []
    blocks = page.index.document.blocks
    assert [block.table is not None for block in blocks] == [lists_contents(b) for b in blocks]


def test_figures_under_a_head_that_is_no_page_are_no_list_of_contents(report: Searcher) -> None:
    assert not any(map(lists_contents, report.index.document.blocks))


BALANCE = table(
    "In millions|January 28, 2023|January 29, 2022",
    "Cash and cash equivalents|$ 738|$ 432",
    "Cash|$ 12|$ 11",
    "Short-term investments|$ 40|$ 30",
    "Cash, cash equivalents and short-term investments|$ 778|$ 462",
)
SALES = table(
    "In millions|13 Weeks Ended January 28, 2023|13 Weeks Ended January 29, 2022|"
    "52 Weeks Ended January 28, 2023|52 Weeks Ended January 29, 2022",
    "Net sales|$ 3,227|$ 2,729|$ 10,209|$ 8,631",
    "Earnings per share:||||",
    "Diluted|$ 6.68|$ 5.41|$ 24.01|$ 17.98",
)
PROFITS = "".join(
    f"<h3>{name}</h3>" + table(f"In millions|{weeks} Weeks Ended January 28, 2023", row)
    for name, weeks, row in (
        ("Quarter", 13, "Gross profit|$ 1,213"),
        ("Fiscal year", 52, "Gross profit|$ 4,045"),
    )
)
YEAR = (
    "<p>Net sales of the fiscal year ended January 28, 2023 rose. Fiscal 2022 was a year of 52 "
    "weeks, as was fiscal 2021, and fiscal 2020 too.</p>"
)


@pytest.mark.parametrize(
    ("question", "figure"),
    [
        ("How much cash did the company have on January 28, 2023?", "$738 million"),
        ("What was cash on January 29, 2022?", "$432 million"),
        ("How much cash did Ulmer hold at the end of fiscal 2022?", "$738 million"),
        ("What were short-term investments on January 28, 2023?", "$40 million"),
        ("What was cash at the end of fiscal 2022?", "$738 million"),  # on January 28, 2023
        ("What was cash at the end of fiscal 2021?", "$432 million"),
        ("What were net sales in fiscal 2022?", "$10,209 million"),  # of the year, no quarter
        ("By what percentage did net sales grow in fiscal 2022?", "18.28 %"),
        ("What was gross profit in fiscal 2022?", "$4,045 million"),
        ("What was gross profit for the 13 weeks ended January 28, 2023?", "$1,213 million"),
        ("What were diluted earnings per share in fiscal 2022?", "$24.01"),  # and no millions
    ],
)
def test_an_item_and_its_fiscal_year_are_those_that_are_meant(
    tmp_path: Path, question: str, figure: str
) -> None:
    page = opened(tmp_path, f"<h1>Ulmer Beauty</h1>{YEAR}<h2>Balance</h2>{BALANCE}{SALES}{PROFITS}")
    assert page.vocabulary.fiscal.named_for_start
    made = asked(page, question)
    assert made.short is not None
    assert made.short.text == figure


HOLDERS = (
    "<p>Ann Hall, Chief Operating Officer, joined the company in 2007 as vice president of the "
    "executive team and is an officer since 2010.</p><p>{}</p>"
)


@pytest.mark.parametrize(
    ("question", "other", "told"),
    [
        ("Who is the chief executive officer?", "John Donald is Chief Executive Officer.", True),
        ("Who is the chief executive officer?", "John Donald is CEO of the company.", True),
        ("Who is the chief executive officer?", "John Donald is a chief of officers.", False),
        ("Who is the president of the company?", "John Donald is Vice President.", False),
        ("Who is president?", "John Donald was named President in 2001.", False),
        ("Who was president?", "John Donald was named President in 2001.", True),
        ("Who is president?", "John Donald has been President since 2001.", True),
        ("Who wrote the report of the officers?", "John Donald wrote it.", True),
    ],
)
def test_who_holds_an_office_is_answered_by_a_sentence_that_names_it(
    tmp_path: Path, question: str, other: str, told: bool
) -> None:
    page = opened(tmp_path, HOLDERS.format(other))
    ranking = page.search(question, k=3)
    passages = [
        CitedPassage(n, hit, page.index.segments[hit.position], page.index.document)
        for n, hit in enumerate(ranking.hits, 1)
    ]
    found = read_sentences(
        lambda _q, texts: [0.9 if "Donald" in t else 0.8 for t in texts],
        page.index,
        ranking.query,
        passages,
    )
    assert (found is not None and "Donald" in found.chosen[0].text) == told


@pytest.mark.parametrize(
    ("question", "text", "told"),
    [
        (
            "What did Ulmer Beauty pay in dividends in fiscal 2021?",
            "In fiscal 2021, Ulmer Beauty had record revenues.",
            False,
        ),
        (
            "What did Ulmer Beauty pay in dividends in fiscal 2021?",
            "In fiscal 2021, Ulmer Beauty paid dividends of $4.",
            True,
        ),
        ("How many stores opened in 2023?", "During 2022, the company opened 47 stores.", False),
        ("How many stores opened in 2023?", "During 2023, the company opened 47 stores.", True),
        ("How many stores opened in 2023?", "The company opened 47 stores.", True),
        (
            "How many stores opened in 2023?",
            "On 12 May 2023 and 3 July 2022 the company opened 47 stores.",
            True,
        ),
        (
            "How many stores opened in 2023?",
            "The company opened 52 stores, compared to 47 stores in 2022.",
            True,
        ),
        ("How many stores opened in 2023?", "It rose to 52 stores from 47 in 2022.", True),
        (
            "How much cash did Ulmer have?",
            "Ulmer had $3 billion of cash, cash equivalents and marketable securities.",
            False,
        ),
        (
            "What were cash, cash equivalents and securities?",
            "Ulmer had $3 billion of cash, cash equivalents and marketable securities.",
            True,
        ),
        ("How much cash did Ulmer have?", "Ulmer had $3 billion of cash and equivalents.", True),
        ("Which stores did it open?", "The company opened the following stores:", False),
    ],
)
def test_what_speaks_of_names_or_another_year_or_what_follows_answers_nothing(
    tmp_path: Path, question: str, text: str, told: bool
) -> None:
    page = opened(tmp_path, f"<p>{text}</p><p>Trees are green.</p>")
    ranking = page.search(question, k=3)
    passages = [
        CitedPassage(n, hit, page.index.segments[hit.position], page.index.document)
        for n, hit in enumerate(ranking.hits, 1)
    ]
    found = read_sentences(
        lambda _q, texts: [0.9] * len(texts), page.index, ranking.query, passages
    )
    assert (found is not None and found.chosen[0].text == text) == told


def test_the_judge_decides_which_sentence_is_quoted(report: Searcher) -> None:
    ranking = report.search("Which plant is in Leeds?", k=3)
    passages = [
        CitedPassage(n, hit, report.index.segments[hit.position], report.index.document)
        for n, hit in enumerate(ranking.hits, 1)
    ]
    liked = passages[-1].segment.text

    def reads(_query: str, texts: Sequence[str]) -> list[float]:
        return [0.9 if text == liked else 0.1 for text in texts]

    found = read_sentences(reads, report.index, ranking.query, passages, claim=True)
    assert found is not None
    assert found.chosen[0].text == liked
    assert found.features["own"] == 0.9
    assert read_sentences(reads, report.index, ranking.query, ()) is None


def test_a_sentence_without_a_percentage_does_not_answer_a_question_for_one(
    report: Searcher,
) -> None:
    query = report.search("By what percentage did the plant in Leeds grow?", k=3)
    passages = [
        CitedPassage(n, hit, report.index.segments[hit.position], report.index.document)
        for n, hit in enumerate(query.hits, 1)
    ]
    assert passages
    liked = read_sentences(
        lambda _q, texts: [0.9] * len(texts), report.index, query.query, passages, claim=True
    )
    assert liked is None


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


HEADS = b"""<html><body><h1>Notes</h1><p>Inventories consisted of the following:</p><table>
<tr><th></th><th>December 31,</th><th></th></tr>
<tr><td>(in thousands)</td><td>2019</td><td>2018(1)</td></tr>
<tr><td>Raw materials</td><td>$ 40</td><td>$ 30</td></tr>
<tr><td>Total</td><td>$ 90</td><td>$ 70</td></tr></table></body></html>"""


def test_years_under_the_first_row_of_heads_are_heads_too() -> None:
    found = figures_of(load_bytes(HEADS, name="notes.html"))
    assert [(one.label, one.years, one.text) for one in found[:2]] == [
        ("Raw materials", ("2019",), "$ 40"),
        ("Raw materials", ("2018",), "$ 30"),
    ]
    assert {one.scale for one in found} == {"thousand"}


def test_the_text_before_a_table_says_what_it_is_of() -> None:
    found = figures_of(load_bytes(HEADS, name="notes.html"))
    assert "inventory" in found[0].context


FILMS = b"""<html><head><title>Ann Lee</title></head><body><h1>Ann Lee</h1><h2>Films</h2><table>
<tr><th>Year</th><th>Title</th><th>Role</th><th>Language</th></tr>
<tr><td>2007</td><td>Harbour</td><td>Mary</td><td>English</td></tr>
<tr><td>2008-2010</td><td>The Mill</td><td>Ruth</td><td>English</td></tr>
<tr><td>2012</td><td>Nuit</td><td>Claire</td><td>French</td></tr></table></body></html>"""


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("What roles did Ann Lee play from 2007 to 2009?", ["Harbour", "The Mill"]),
        ("Which French films was Ann Lee in?", ["Nuit"]),
        ("What were the roles of Ann Lee in Harbour and Nuit?", ["Harbour", "Nuit"]),
    ],
)
def test_rows_are_those_that_meet_every_condition_of_a_question(
    question: str, titles: list[str]
) -> None:
    named = row_sets(load_bytes(FILMS, name="films.html"), question, None)
    told = [{head: cell.text for head, cell in row.cells} for row in named[0].records]
    assert [row["Title"] for row in told] == titles


OFFICERS = b"""<html><head><title>Officers</title></head><body><h1>Officers</h1><table>
<tr><th>Name</th><th>Present Position</th><th>Other Positions Held</th></tr>
<tr><td>Inge Holm</td><td>Chairman</td><td>Chief Executive Officer</td></tr>
<tr><td>Michael Orr</td><td>Chief Executive Officer</td><td>Treasurer</td></tr>
<tr><td>Ann Lee</td><td>Treasurer</td><td>Clerk</td></tr></table></body></html>"""


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who is the Chief Executive Officer?", ["Michael Orr"]),
        ("Who was Clerk?", ["Ann Lee"]),
        ("Who is the Clerk?", []),
    ],
)
def test_who_holds_an_office_is_not_who_held_it(question: str, names: list[str]) -> None:
    found = row_sets(load_bytes(OFFICERS, name="officers.html"), question, None)
    assert [row.cells[0][1].text for one in found for row in one.records] == names


def test_who_is_asked_for_may_be_whom_the_page_is_about() -> None:
    (found,) = row_sets(load_bytes(FILMS, name="films.html"), "Who played Ruth in The Mill?", None)
    assert found.text.startswith("Ann Lee")


def test_the_judge_may_find_rows_that_no_name_finds() -> None:
    def reads(_question: str, texts: Sequence[str]) -> list[float]:
        return [0.9 if "Nuit" in text else 0.1 for text in texts]

    page = load_bytes(FILMS, name="films.html")
    sets = row_sets(page, "What was her part in Paris?", reads)
    assert [row.text for one in sets for row in one.records if "Nuit" in row.text]
    assert all({"judged", "outside"} <= one.features.keys() for one in sets)


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("from 2015 through 2018", {"2015", "2016", "2017", "2018"}),
        ("in 2008 and 2011", {"2008", "2011"}),
        ("between 1999 and 2001", {"1999", "2000", "2001"}),
        ("the 2009-10 season", {"2009", "2010"}),
        ("2,010 votes", set()),
    ],
)
def test_a_range_of_years_names_those_in_between(text: str, years: set[str]) -> None:
    assert years_named(text) == years


def test_the_confidence_model_knows_every_way_of_answering() -> None:
    known = packaged_confidence()
    for way in AnswerWay:
        fitted = known.ways[way]
        assert len(fitted.features) == len(fitted.model.weights)
        assert 0.5 < fitted.floor < 1.0
