"""The report: complete, self-contained, and nothing in it runs."""

from pathlib import Path

import pytest
from lxml import etree, html

from abstrag.cli.report import report_command
from abstrag.workspace.tour import DEMO_QUERY, DEMO_SENTENCE

ATTACK = "</title><script>alert(1)</script><img src=x onerror=alert(2)>"


def written(target: Path, *queries: str) -> str:
    """Run the command and return the file it wrote."""
    output = target.with_suffix(".report.html")
    report_command.main(
        [str(target), *queries, "-o", str(output), "-k", "3"], standalone_mode=False
    )
    return output.read_text("utf-8")


def text_of(element: etree._Element) -> str:
    return "".join(map(str, element.itertext()))


def test_a_report_has_quotes_places_factors_and_licences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from importlib.resources import files

    demo = Path(str(files("abstrag.data"))) / "demo"
    article = tmp_path / "chips.md"
    article.write_bytes((demo / "chips.md").read_bytes())
    output = tmp_path / "out.html"
    questions = (DEMO_QUERY, "Who visited TSMC?")
    options = ("-o", str(output), "--background", str(demo / "chips.toml"))
    report_command.main([str(article), *questions, *options], standalone_mode=False)
    assert "2 questions" in capsys.readouterr().out
    page = html.fromstring(output.read_text("utf-8"))
    assert [text_of(h) for h in page.iter("h2")] == [DEMO_QUERY, "Who visited TSMC?"]
    text = text_of(page)
    assert f"“{DEMO_SENTENCE}”" in text
    assert "characters 1786 to 1873" in text
    assert "0.90 = ω 0.90 + δ 0.00" in text
    assert "licence: background: chips.toml" in text
    assert "A trip to Hsinchu" in text
    costs = [text_of(one) for one in page.iter("article") if "cost " in text_of(one)]
    assert len(costs) == len(list(page.iter("article"))) > 0


def test_a_report_shows_a_cell_under_its_headers(tmp_path: Path) -> None:
    article = tmp_path / "accounts.md"
    article.write_text("| | 2019 |\n|---|---|\n| Loss per share: | |\n| Basic | 0.07 |\n")
    page = html.fromstring(written(article, "What was the loss per share?"))
    assert "under 2019 · Loss per share: · Basic" in [text_of(p) for p in page.iter("p")]


def test_a_report_loads_and_runs_nothing(tmp_path: Path) -> None:
    article = tmp_path / "attack.md"
    article.write_text(f"# A `{ATTACK}` title\n\nMr. `{ATTACK}` met the mayor of Bern in May.\n")
    raw = written(article, f"Who met the mayor {ATTACK}?")
    page = html.fromstring(raw)
    assert not list(page.iter("script", "img", "link", "iframe", "object", "form", "base"))
    assert not [e for e in page.iter() if any(str(name).startswith("on") for name in e.attrib)]
    assert not [e for e in page.iter() if {"src", "href"} & set(e.attrib)]
    assert "script>" not in raw.replace("&lt;script&gt;", "").replace("&lt;/script&gt;", "")
    assert ATTACK in text_of(page)
    assert "default-src 'none'" in raw


def test_a_question_that_finds_nothing_says_so(tmp_path: Path) -> None:
    article = tmp_path / "note.md"
    article.write_text("# Note\n\nBasel built a bridge.\n")
    assert "Nothing in the document meets any part of this." in written(article, "quantum gravity")


def test_a_place_that_cannot_be_written_to_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from abstrag.errors import InputError

    article = tmp_path / "note.md"
    article.write_text("# Note\n\nBasel built a bridge.\n")
    with pytest.raises(InputError, match="cannot be written"):
        report_command.main(
            [str(article), "bridge", "-o", str(tmp_path / "no" / "where.html")],
            standalone_mode=False,
        )
