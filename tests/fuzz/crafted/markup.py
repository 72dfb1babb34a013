"""Markdown and web pages that cost more than they say."""

from tests.fuzz.crafted.family import MIDDLE, SMALL, Family

_PLAIN = "The port leased Pier 4 to Lind Shipping."


def _md(name: str, unit: str, sizes: tuple[int, ...] = MIDDLE, after: str = "") -> Family:
    return Family(name, "md", lambda n: f"# Harbour\n\n{_PLAIN}\n\n{unit * n}{after * n}\n", sizes)


def _page(body: str) -> str:
    return f"<html><head><title>Harbour</title></head><body><p>{_PLAIN}</p>{body}</body></html>"


def _html(name: str, unit: str, sizes: tuple[int, ...] = MIDDLE, after: str = "") -> Family:
    return Family(name, "html", lambda n: _page(unit * n + after * n), sizes)


FAMILIES = (
    _md("emphasis", "*", MIDDLE),
    _md("emphasis with letters", "*a **b ", MIDDLE),
    _md("closed emphasis", "**a", MIDDLE, "**"),
    _md("underscores", "_a__b_", MIDDLE),
    _md("backticks", "`", MIDDLE),
    _md("growing backticks", "`a``b```", MIDDLE),
    _md("open links", "[", MIDDLE),
    _md("links", "[a](b) ", MIDDLE),
    _md("links in links", "[a", SMALL, "](b)"),
    _md("pictures", "![a](", MIDDLE),
    _md("references to nothing", "[a][b] ", MIDDLE),
    _md("definitions of links", "[a]: b\n", MIDDLE),
    _md("footnotes", "a[^1] ", SMALL),
    _md("quotes", ">", MIDDLE, " a"),
    _md("lists in lists", "- ", SMALL, "a"),
    _md("indented lists", "  - a\n", SMALL),
    _md("numbers", "1. a\n", MIDDLE),
    _md("tables", "| a | b |\n|---|---|\n| 1 | 2 |\n\n", SMALL),
    _md("a wide table", "|a", SMALL, "|\n"),
    _md("pipes", "|", MIDDLE),
    _md("fences", "```\n", SMALL),
    _md("open tags", "<b>", MIDDLE),
    _md("comments", "<!--", SMALL),
    _md("entities", "&amp;&#0;&#xFFFFFFFF;", MIDDLE),
    _md("backslashes", "\\", MIDDLE),
    _md("rules", "---\n", MIDDLE),
    _md("headings of all levels", "# a\n###### b\n", SMALL),
    _md("hard breaks", "a  \n", MIDDLE),
    _md("addresses", "<http://a.example> ", MIDDLE),
    Family(
        "front matter",
        "md",
        lambda n: "---\n" + "a: &x [*x, *x]\n" * n + f"---\n\n{_PLAIN}\n",
        SMALL,
    ),
    Family("front matter without end", "md", lambda n: "---\n" + "a: b\n" * n + _PLAIN, SMALL),
    _html("divisions", "<div>", SMALL, "</div>"),
    _html("unclosed divisions", "<div>a", SMALL),
    _html("unclosed paragraphs", "<p>a", MIDDLE),
    _html("unclosed formats", "<b><i>a", SMALL),
    _html("misnested formats", "<b><p></b>a</p>", SMALL),
    _html("tables in tables", "<table><tr><td>a", SMALL, "</td></tr></table>"),
    _html("empty tables", "<table></table>", SMALL),
    _html("rows", "<tr><td>a<td>b", MIDDLE),
    _html("lists in lists", "<ul><li>a", SMALL, "</ul>"),
    _html("items", "<li>a", MIDDLE),
    _html("definitions", "<dt>a<dd>b", MIDDLE),
    _html("headings", "<h1>a</h1><h6>b</h6>", SMALL),
    _html("contents", '<div class="toc"><a href="#a">a</a>', SMALL, "</div>"),
    _html("navigation", "<nav><ul><li><a href=b>a</a></ul></nav>", SMALL),
    _html("links", '<a href="b">a</a> ', MIDDLE),
    _html("comments", "<!-- <p>a -->", MIDDLE),
    _html("open comments", "<!--", MIDDLE),
    _html("scripts", "<script>document.write('<p>a')</script>", SMALL),
    _html("open scripts", "<script><p>a", SMALL),
    _html("entities", "&lt;&nbsp;&#0;&#x110000;", MIDDLE),
    _html("drawings", "<svg><text>a</text>", SMALL, "</svg>"),
    _html("formulas", "<math><mi>a</mi>", SMALL, "</math>"),
    _html("templates", "<template><p>a", SMALL, "</template>"),
    _html("preformatted", "<pre>a\n", SMALL, "</pre>"),
    _html("line breaks", "a<br>", MIDDLE),
    _html("breaks of words", "a<wbr>", MIDDLE),
    _html("forms", "<form><select><option>a", SMALL),
    _html("frames", "<iframe src=//a.example>", SMALL),
    _html("hidden", "<p hidden>a</p><p style='display:none'>b</p>", SMALL),
    _html("CDATA", "<![CDATA[<p>a]]>", SMALL),
    _html("instructions", "<?a b?>", SMALL),
    _html("brackets", "<", MIDDLE),
    _html("brackets that close", ">", MIDDLE),
    Family(
        "a cell over many",
        "html",
        lambda n: _page(f"<table><tr><td rowspan={n} colspan={n}>a<td>b</table>"),
        (10, 1_000, 100_000, 10**12),
    ),
    Family(
        "cells over one another",
        "html",
        lambda n: _page("<table>" + f"<tr><td rowspan={n}>a<td colspan=5>b" * n + "</table>"),
        (10, 100, 800),
    ),
    Family(
        "attributes",
        "html",
        lambda n: _page("<p " + " ".join(f"a{i}=b" for i in range(n)) + ">a</p>"),
        SMALL,
    ),
    Family("a long attribute", "html", lambda n: _page(f"<p class='{'a ' * n}'>a</p>"), MIDDLE),
    Family(
        "declared entities",
        "html",
        lambda n: (
            '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a0 "aa">'
            + "".join(f'<!ENTITY a{i + 1} "&a{i};&a{i};">' for i in range(n))
            + f"]><html><body><p>{_PLAIN} &a{n};</p></body></html>"
        ),
        (5, 20, 60),
    ),
)
