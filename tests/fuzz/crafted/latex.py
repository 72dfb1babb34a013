"""LaTeX that costs more than it says."""

from tests.fuzz.crafted.family import MIDDLE, SMALL, Family

_PLAIN = "The port leased Pier 4 to Lind Shipping."


def _document(body: str, preamble: str = "") -> str:
    return (
        f"\\documentclass{{article}}\n{preamble}\n\\begin{{document}}\n{_PLAIN}\n\n"
        f"{body}\n\\end{{document}}\n"
    )


def _tex(name: str, unit: str, sizes: tuple[int, ...] = MIDDLE, after: str = "") -> Family:
    return Family(name, "tex", lambda n: _document(unit * n + after * n), sizes)


def _letters(number: int) -> str:
    """Write a number as the letters that the name of a macro may have."""
    return "".join(chr(97 + int(digit)) for digit in str(number))


def _macros(n: int, body: str) -> str:
    """Define macros of which each calls the next as its body says."""
    return (
        "".join(
            f"\\newcommand{{\\m{_letters(i)}}}[1]{{{body.replace('NEXT', f'm{_letters(i + 1)}')}}}\n"
            for i in range(n)
        )
        + f"\\newcommand{{\\m{_letters(n)}}}[1]{{#1}}\n"
    )


def _inputs(n: int, times: int) -> dict[str, bytes]:
    files = {"crafted.tex": _document("\\input{f0}" * times).encode()}
    for i in range(n):
        files[f"f{i}.tex"] = ("a " + f"\\input{{f{i + 1}}} " * times).encode()
    files[f"f{n}.tex"] = b"the end"
    return files


FAMILIES = (
    _tex("groups", "{", MIDDLE, "}"),
    _tex("open groups", "{", MIDDLE),
    _tex("closed groups", "}", MIDDLE),
    _tex("dollars", "$", MIDDLE),
    _tex("formulas", "$x_1$ ", MIDDLE),
    _tex("fractions", "\\frac{a}{", SMALL, "}"),
    _tex("environments", "\\begin{quote}a ", SMALL, "\\end{quote}"),
    _tex("open environments", "\\begin{itemize}\\item a ", SMALL),
    _tex("ends of nothing", "\\end{itemize}", SMALL),
    _tex("lists", "\\begin{itemize}\\item a ", SMALL, "\\end{itemize}"),
    _tex("items", "\\item a ", MIDDLE),
    _tex("verbatim", "\\verb|a| ", MIDDLE),
    _tex("open verbatim", "\\verb|a ", MIDDLE),
    _tex("comments", "% a\n", MIDDLE),
    _tex("sections", "\\section{A}\nText.\n\n", SMALL),
    _tex("footnotes", "a\\footnote{b} ", SMALL),
    _tex("footnotes in footnotes", "a\\footnote{b", SMALL, "}"),
    _tex("references", "\\ref{a}\\label{a} ", SMALL),
    _tex("citations", "\\cite{a,b} ", SMALL),
    _tex("accents", "\\'e\\\"{o}", MIDDLE),
    _tex("backslashes", "\\\\", MIDDLE),
    _tex("columns", "a & ", MIDDLE),
    _tex("tables", "\\begin{tabular}{ll}a & b \\\\\\end{tabular}\n\n", SMALL),
    _tex("tables in tables", "\\begin{tabular}{l}a ", SMALL, "\\end{tabular}"),
    _tex("bold", "\\textbf{a ", SMALL, "}"),
    _tex("unknown commands", "\\unknown[a]{b}{c} ", MIDDLE),
    _tex("options", "\\section[a", SMALL),
    _tex("definitions in the text", "\\def\\a{b}\\a ", SMALL),
    _tex("hyphens", "\\-", MIDDLE),
    _tex("conditions", "\\iffalse a \\fi ", SMALL),
    _tex("open conditions", "\\iffalse a ", SMALL),
    _tex("tildes", "a~", MIDDLE),
    _tex("bibliography", "\\bibitem{a} A. Lind. ", SMALL),
    Family(
        "doubling macros",
        "tex",
        lambda n: _document("\\ma{a}", _macros(n, "\\NEXT{#1#1}")),
        (5, 20, 60),
    ),
    Family(
        "calling twice",
        "tex",
        lambda n: _document("\\ma{a}", _macros(n, "\\NEXT{#1}\\NEXT{#1}")),
        (5, 20, 60),
    ),
    Family(
        "a chain of macros", "tex", lambda n: _document("\\ma{a}", _macros(n, "\\NEXT{#1}")), SMALL
    ),
    Family(
        "a macro of itself",
        "tex",
        lambda n: _document("\\a{b}" * n, "\\newcommand{\\a}[1]{\\a{#1#1}}"),
        (1, 100),
    ),
    Family("macros", "tex", lambda n: _document("a", "\\newcommand{\\x}{y}\n" * n), SMALL),
    Family(
        "many arguments",
        "tex",
        lambda n: _document("\\a" + "{b}" * n, "\\newcommand{\\a}[9]{#1#9#8}"),
        SMALL,
    ),
    Family(
        "a wide table",
        "tex",
        lambda n: _document(
            "\\begin{tabular}{" + "l" * n + "}" + "a & " * n + "\\\\\\end{tabular}"
        ),
        SMALL,
    ),
    Family(
        "repeated columns",
        "tex",
        lambda n: _document(f"\\begin{{tabular}}{{*{{{n}}}{{l}}}}a\\\\\\end{{tabular}}"),
        (10, 10_000, 10**9),
    ),
    Family(
        "columns in one",
        "tex",
        lambda n: _document(
            f"\\begin{{tabular}}{{l}}\\multicolumn{{{n}}}{{c}}{{a}}\\\\\\end{{tabular}}"
        ),
        (10, 10_000, 10**9),
    ),
    Family("inputs", "tex", lambda n: _inputs(n, 1), (5, 30, 300)),
    Family("inputs twice", "tex", lambda n: _inputs(n, 2), (5, 20, 35)),
    Family(
        "an input of itself",
        "tex",
        lambda n: {"crafted.tex": _document("\\input{crafted}" * n).encode()},
        (1, 50),
    ),
    Family(
        "an input elsewhere",
        "tex",
        lambda n: _document("\\input{" + "../" * n + "etc/passwd}"),
        (1, 10, 100),
    ),
)
