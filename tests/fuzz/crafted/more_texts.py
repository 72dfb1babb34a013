"""Texts, Markdown, web pages and LaTeX whose pieces all differ, refer to one another or mix."""

from collections.abc import Callable
from itertools import cycle, islice

from tests.fuzz.crafted.family import SMALL, Family
from tests.fuzz.crafted.latex import _document, _letters
from tests.fuzz.crafted.markup import _page

_PLAIN = "The port leased Pier 4 to Lind Shipping in 2021. "
FEW = (10, 100, 1_000)


def _name(number: int) -> str:
    return _letters(number).title()


def _each(kind: str, name: str, piece: Callable[[int], str], sizes: tuple[int, ...]) -> Family:
    """A family whose pieces are told by their number."""

    def make(n: int) -> str:
        body = "".join(map(piece, range(n)))
        if kind == "html":
            return _page(body)
        return _document(body) if kind == "tex" else f"{_PLAIN}\n\n{body}\n"

    return Family(name, kind, make, sizes)


def _text(name: str, piece: Callable[[int], str], sizes: tuple[int, ...] = FEW) -> Family:
    return _each("txt", name, piece, sizes)


def _md(name: str, piece: Callable[[int], str], sizes: tuple[int, ...] = SMALL) -> Family:
    return _each("md", name, piece, sizes)


def _html(name: str, piece: Callable[[int], str], sizes: tuple[int, ...] = SMALL) -> Family:
    return _each("html", name, piece, sizes)


def _tex(name: str, piece: Callable[[int], str], sizes: tuple[int, ...] = SMALL) -> Family:
    return _each("tex", name, piece, sizes)


def _mixed(kind: str, name: str, signs: str) -> Family:
    return Family(
        name, kind, lambda n: f"{_PLAIN}\n\n{''.join(islice(cycle(signs), n))} a\n", (100, 5_000)
    )


_TEXTS = (
    _text("definitions in a ring", lambda i: f"“T{i}” means a T{i + 1}, as defined below. "),
    _text("acronyms of acronyms", lambda i: f"The {_name(i)} Port Fund ({_name(i)[0]}PF) paid. "),
    _text("one name in many", lambda i: f"{_name(i)} of {_name(i + 1)} of {_name(i + 2)} "),
    _text("a name that grows", lambda i: "Bank of " + "Lind of " * (i % 60) + "Oslo paid. "),
    _text("names and then he", lambda i: f"{_name(i)} Lind met him and his wife. "),
    _text("amounts that differ", lambda i: f"Pier {i} cost EUR {i * 137}.{i % 100:02} million. "),
    _text("dates that differ", lambda i: f"On {i % 28 + 1} May {1900 + i % 200} it paid {i}. "),
    _text("the day before", lambda i: "the day before " * (i % 50) + "yesterday it paid. "),
    _text("fiscal years", lambda i: f"In the {i}th quarter of fiscal {i} and FY{i:02} it paid. "),
    _text(
        "sections that refer", lambda i: f"Section {i}. Subject to Section {i + 1}, it pays.\n\n"
    ),
    _text("deep numbers", lambda i: ".".join(["1"] * (i % 80 + 1)) + " Rent\n\nIt pays.\n\n"),
    _text("lettered clauses", lambda i: f"({'abcdefghij'[i % 10]}) ({i}) (iv) it pays; and\n"),
    _text("many speakers", lambda i: f"{_name(i).upper()}: I saw her.\n"),
    _text("footers", lambda i: f"It paid {i}.\n\nPage {i} of 9999\nLind plc\n\f"),
    _text("notes of the foot", lambda i: f"It paid.{i} The rent rose.[{i}] (see note {i}) "),
    _text("bibliography", lambda i: f"[{i}] A. Lind and B. Berg. Piers. J. Ports {i}, {i}–{i}.\n"),
    _text("broken lines", lambda i: f"the har-\nbour lea-\nsed {i} pi-\ners\n"),
    _text("lists that differ", lambda i: f"{_name(i)} Ltd; "),
    _text("conjunctions", lambda i: f"{_name(i)} and {_name(i + 7)}, or {_name(i + 9)}, "),
    _text("relative clauses", lambda i: f"the port that {_name(i)} said that "),
    _text("quotations in quotations", lambda i: "“a ‘b " if i % 2 else "’ c” "),
    _text("aligned columns", lambda i: f"{'x' * (i % 9)}    {i}      {i * 3}     {i * 7}\n"),
    _text("units", lambda i: f"{i} kg/m{i} per s^{i} "),
    _text("digits of all scripts", lambda i: chr(0x660 + i % 10) * 9 + chr(0x966 + i % 10) + " "),
    _text("letters of all scripts", lambda i: chr(0x100 + i * 7 % 0xD000) * 3 + " "),
    _text("base64", lambda i: f"{i * 0x9E3779B97F4A7C15:x}" * 3 + "\n"),
    _text("addresses that differ", lambda i: f"http://a{i}.example/{'b/' * (i % 40)}?q={i}#{i} "),
    _text("JSON in a text", lambda i: f'{{"a{i}": [1, {{"b": "'),
    _text("marks of a title", lambda i: f"Dr. {_name(i)}, Ph.D., Jr., e.g. i.e. vs. "),
    _text("a table of contents", lambda i: f"{i}. Pier {i} {'.' * (i % 200)} {i}\n"),
    _text("headings alone", lambda i: f"CHAPTER {i}\n\n"),
    _text("what it is not", lambda i: f"not un{_name(i).lower()} nor never non-{i} "),
    _mixed("txt", "brackets of all kinds", "([{<“‘«"),
    _mixed("txt", "signs of all kinds", ".,;:!?'\"-–—/\\|*_~`@#$%^&+="),
)
_MARKDOWN = (
    _mixed("md", "emphasis of two kinds", "*_"),
    _mixed("md", "quotes and lists", "> - "),
    _mixed("md", "links and code", "[`](<"),
    _mixed("md", "pictures in links", "![]("),
    _md("links to definitions", lambda i: f"[a{i}] [b][a{i + 1}]\n\n[a{i}]: /b{i} 'c\n"),
    _md("notes in a ring", lambda i: f"a[^{i}]\n\n[^{i}]: see [^{i + 1}]\n\n"),
    _md("headings by underlines", lambda i: f"Pier {i}\n{'=-'[i % 2] * (i % 70 + 1)}\n\n"),
    _md("lists that go in", lambda i: " " * (i % 300) + f"{i}. a\n"),
    _md("quotes that go in", lambda i: ">" * (i % 90) + f" a{i}\n"),
    _md("open tags of the web", lambda i: f'<div id="{i}"><table><tr><td>'),
    _md("emphasis that does not end", lambda i: f"**a{i} *b"),
    _md("addresses alone", lambda i: f"www.a{i}.example a@b{i}.example "),
    _md("titles of links", lambda i: f'[a](b{i} "'),
    _md("rows that differ", lambda i: f"|{'|'.join('a' * (i % 40))}|\n|---|\n"),
    _md("fences in fences", lambda i: "`" * (3 + i % 40) + "\na\n"),
    _md("tasks", lambda i: f"- [ ] a{i}\n    - [x] b\n"),
    _md("code by indent", lambda i: f"    a{i}\n\n\tb\n"),
    _md("escapes", lambda i: f"\\*\\[\\]\\(&#{i};&lt"),
)
_WEB = (
    _html("a body of tables that is none", lambda i: f"<table>a{i}<b><td>b"),
    _html("cells that go down", lambda i: f"<tr><td rowspan={i % 60}>a<th colspan=2>b", FEW),
    _html("links in links", lambda i: f'<a href="#{i}" id="{i + 1}">a'),
    _html("headings in links", lambda i: f"<a href=#><h{i % 6 + 1}>a{i}"),
    _html("lists of tables", lambda i: f"<ul><li><table><tr><td>a{i}</table></ul>"),
    _html("small print", lambda i: f"a<sup>{i}</sup><sub>b<sup>"),
    _html("names of classes", lambda i: f"<div class='nav menu footer c{i}'><p>It pays {i}.</div>"),
    _html("styles", lambda i: f"<style>.a{i}{{display:none}}</style><p class=a{i}>a"),
    _html("ruby", lambda i: f"<ruby>a{i}<rt>b<rp>c"),
    _html("details", lambda i: f"<details><summary>a{i}</summary>"),
    _html("plain text", lambda i: f"<xmp><plaintext>a{i}"),
    _html("charsets", lambda i: f"<meta charset=utf-{i}><p>a"),
    _html("data", lambda i: f"<img src='data:image/png;base64,{'A' * (i % 900)}' alt='a{i}'>"),
    _html("fonts", lambda i: f"<font size={i}><center><b>a"),
    _html("captions", lambda i: f"<table><caption>a<table><caption>b{i}", FEW),
    _html("heads of heads", lambda i: f"<thead><th scope=col>a{i}<thead><tbody>"),
    _html("definitions in definitions", lambda i: f"<dl><dt>a{i}<dd><dl>"),
    _html("no spaces", lambda i: f"<span>a</span><i>b{i}</i>"),
    _html("paragraphs that differ", lambda i: f"<p>{_name(i)} leased Pier {i}.<br><br>", FEW),
    _html("frames of old", lambda i: f"<frameset><noframes>a{i}<object><param>"),
)
_LATEX = (
    _tex("macros in a ring", lambda i: f"\\def\\a{'bc'[i % 2]}{{\\a{'cb'[i % 2]}}}\\ab "),
    _tex("new meanings", lambda i: f"\\renewcommand{{\\x}}{{\\x{i} \\x}}\\x "),
    _tex("names made of parts", lambda i: f"\\csname a{i}\\endcsname\\expandafter\\a\\b "),
    _tex("let", lambda i: f"\\let\\a\\b\\let\\b\\a \\a{i} "),
    _tex("loops", lambda i: f"\\loop a{i} \\ifnum 1<2 \\repeat "),
    _tex("delimited arguments", lambda i: f"\\def\\a#1,#2.{{#2#1}}\\a x{i}, "),
    _tex("new environments", lambda i: f"\\newenvironment{{e{i}}}{{\\begin{{e{i}}}}}{{}}"),
    _tex("begin and another end", lambda i: f"\\begin{{a{i}}}x\\end{{a{i + 1}}}"),
    _tex("large brackets", lambda i: f"$\\left(\\frac{{a{i}}}{{b}}"),
    _tex("aligned formulas", lambda i: f"\\begin{{align}}a &= {i} \\\\ b &= c"),
    _tex("lines of tables", lambda i: f"\\begin{{tabular}}{{l|}}\\hline\\cline{{1-{i}}}a\\\\"),
    _tex(
        "rows in one",
        lambda i: f"\\begin{{tabular}}{{ll}}\\multirow{{{i}}}{{*}}{{a}}&b\\\\\\end{{tabular}}",
        FEW,
    ),
    _tex("captions in captions", lambda i: f"\\begin{{figure}}\\caption{{a\\caption{{b{i}"),
    _tex("sections in sections", lambda i: f"\\section{{a\\subsection{{b{i}"),
    _tex("theorems", lambda i: f"\\begin{{theorem}}[a{i}]\\label{{t{i}}}By \\ref{{t{i + 1}}}."),
    _tex("authors", lambda i: f"\\author{{A{i} \\and B\\thanks{{c"),
    _tex("odd letters", lambda i: f"^^4{i % 10}\\char{i}\\catcode`\\%={i % 16} "),
    _tex("pictures", lambda i: f"\\begin{{tikzpicture}}\\draw ({i},0) -- (1,{i});"),
    _tex("comments by environment", lambda i: f"\\begin{{comment}}a{i}\\end{{comment}}\\iffalse "),
    _tex("verbatim of all signs", lambda i: f"\\verb{'|+!/-'[i % 5]}a{i} "),
    _tex("citations that differ", lambda i: f"\\citep[see][p. {i}]{{a{i},b{i}}} "),
    _tex("optional arguments", lambda i: f"\\newcommand{{\\o}}[2][x{i}]{{#1#2}}\\o[\\o[a"),
    Family(
        "an input by many names",
        "tex",
        lambda n: {
            "crafted.tex": _document("\\input{f}" * n).encode(),
            "f.tex": b"a \\input{./f} \\input{f.tex} \\include{../x/f}",
        },
        (1, 10, 100),
    ),
    Family(
        "nine arguments each nine times",
        "tex",
        lambda n: _document(
            "\\m" + _letters(0) + "{a}" * 9,
            "".join(
                f"\\newcommand{{\\m{_letters(i)}}}[9]{{\\m{_letters(i + 1)}"
                + "{#1#2#3#4#5#6#7#8#9}" * 9
                + "}\n"
                for i in range(n)
            ),
        ),
        (2, 5, 9, 30),
    ),
)
FAMILIES = (*_TEXTS, *_MARKDOWN, *_WEB, *_LATEX)
