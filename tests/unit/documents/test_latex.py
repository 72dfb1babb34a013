from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstrag.documents.latex import load_latex
from abstrag.errors import AbstragError, Damaged, FileTooLarge
from abstrag.model.document import Block, BlockKind, Document
from tests.unit.documents.soundness import check_document, decoded, rows, table, texts, tree


def read(body: str, preamble: str = "", folder: Path | None = None) -> Document:
    source = (
        f"\\documentclass{{article}}\n{preamble}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"
    )
    return check_document(load_latex(source.encode(), "main.tex", folder))


def only(document: Document) -> Block:
    (block,) = document.blocks
    return block


def test_title_abstract_and_sections_make_the_tree() -> None:
    document = read(
        "\\maketitle\n\\begin{abstract}Short.\\end{abstract}\n\\section{One}\\label{s}\na\n\n"
        "\\subsection*{Two}\nb\n\n\\paragraph{Three} c\n\n\\section{Four}\nd\n",
        "\\title{On \\emph{Ducks}\\thanks{Paid.}}\n\\author{A. Author}\n\\date{May 15, 2024}",
    )
    assert document.title == "On Ducks"
    assert tree(document) == [
        (0, "On Ducks"),
        (1, "Abstract"),
        (1, "One"),
        (2, "Two"),
        (4, "Three"),
        (1, "Four"),
    ]
    sections = {b.text: b.section for b in document.blocks if b.kind is BlockKind.PARAGRAPH}
    assert sections == {
        "Short.": ("Abstract",),
        "a": ("One",),
        "b": ("One", "Two"),
        "c": ("One", "Two", "Three"),
        "d": ("Four",),
    }
    assert document.metadata.date == "2024-05-15"
    assert document.metadata.date_span is not None
    assert document.quote(document.metadata.date_span) == "May 15, 2024"


def test_chapters_come_before_sections_and_an_appendix_holds_what_follows() -> None:
    document = read("\\chapter{A}\n\\section{B}\nx\n\\appendix\n\\chapter{C}\ny\n")
    assert tree(document) == [(1, "A"), (2, "B"), (1, "Appendix"), (2, "C")]
    assert document.blocks[-1].section == ("Appendix", "C")


def test_today_is_no_date() -> None:
    assert read("x", "\\date{\\today}").metadata.date is None


@pytest.mark.parametrize(
    ("source", "reading"),
    [
        (r"a \textbf{b} {\em c} \textcolor{red}{d}", "a b c d"),
        (r"10\,\% of \$5 \& more~text", "10 % of $5 & more text"),
        (r"``quoted'' -- and --- so on\ldots", "“quoted” – and — so on…"),
        (
            r"J\"urgen, Fran\c{c}ois, {\L}ukasz, \O re, na\"{\i}ve, \v{S}",
            "Jürgen, François, Łukasz, Øre, naïve, Š",
        ),
        (r"see \cite{a,b} and \citep[p.~3]{c}", "see [a,b] and [c]"),
        (
            r"go to \url{http://x.org/a_b} or \href{http://y.org}{there}",
            "go to http://x.org/a_b or there",
        ),
        (r"run \verb|a_b{c}| now", "run a_b{c} now"),
        (r"cost $28.4$ and $d_{k}$, $x_{i+1}$, $10^{-9}$", "cost 28.4 and d_k, x_(i+1), 10^-9"),
        (r"\(\alpha \leq \frac{a+b}{c}\)", "α ≤ (a+b)/c"),
        (r"$\sqrt{d_k}$ in $\mathbb{R}^{d \times n}$", "√d_k in R^(d × n)"),
        (r"$\mathrm{softmax}(\frac{QK^T}{2})$", "softmax((QK^T)/2)"),
        ("one\\\\two\\newline three", "one two three"),
        ("a % comment \\textbf{no}\nb 50\\% % end", "a b 50%"),
        (r"\noindent\vspace{2em}Text\label{x} here\index{y}", "Text here"),
    ],
)
def test_running_text_reads_as_it_prints(source: str, reading: str) -> None:
    assert only(read(source)).text == reading


def test_plain_words_point_at_themselves_and_only_signs_are_decoded() -> None:
    document = read(r"The \textbf{big} model --- see \cite{x} --- reached $28.4$ points.")
    block = only(document)
    assert decoded(document, block) == ["—", "[", "]", "—"]
    at = block.text.index("28.4")
    assert document.quote(block.alignment.locate(at, at + 4)) == "28.4"


def test_a_paragraph_that_ends_in_a_formula_is_quoted_to_its_end() -> None:
    document = read(r"We scale by $\frac{1}{\sqrt{d}}$")
    assert document.quote(only(document).span).endswith(r"\sqrt{d}}")


@pytest.mark.parametrize(
    "display",
    ["\\[ a = b \\]", "$$ a = b $$", "\\begin{equation}\\label{e} a = b \\end{equation}"],
)
def test_display_math_stays_with_its_paragraph(display: str) -> None:
    document = read(f"We compute\n\n{display}\nwhere $a$ is small.\n\nNext.")
    assert texts(document, BlockKind.PARAGRAPH) == ["We compute a = b where a is small.", "Next."]


def test_lists_nest_and_descriptions_keep_their_terms() -> None:
    document = read(
        "\\begin{itemize}\n\\item one\n\\begin{enumerate}[a)]\\item deep\\end{enumerate}\n"
        "\\item two\n\\end{itemize}\nAfter.\n"
        "\\begin{description}\\item[Duck] a bird\\end{description}"
    )
    items = [(b.text, b.level) for b in document.blocks if b.kind is BlockKind.LIST_ITEM]
    assert items == [("one", 1), ("deep", 2), ("two", 1), ("Duck a bird", 1)]
    assert texts(document, BlockKind.PARAGRAPH) == ["After."]


TABLE = r"""
\begin{table}[t]
\caption{Scores \textbf{by} model.}\label{t}
\begin{tabular}{l|cc}
\toprule
\multirow{2}{*}{Model} & \multicolumn{2}{c}{BLEU} \\ \cmidrule(lr){2-3}
 & de & fr \\[2pt]
\midrule
base \cite{x} & 27.3 & \textbf{38.1} \\
{\bf big} & 28.4 & $4\cdot10^{2}$ \\
\bottomrule
\end{tabular}
\end{table}
"""


def test_a_table_has_header_rows_merged_cells_and_its_caption() -> None:
    document = read(f"Text.\n{TABLE}\nMore text.")
    assert rows(document) == [
        ["#Model", "#BLEU"],
        ["#de", "#fr"],
        ["#base [x]", "27.3", "38.1"],
        ["#big", "28.4", "4·10^2"],
    ]
    found = table(document)
    assert found.caption is not None
    assert found.caption.text == "Scores by model."
    value = next(cell for cell in found.cells if cell.text == "38.1")
    assert [header.text for header in found.headers(value)] == ["BLEU", "fr", "base [x]"]
    assert document.quote(value.span) == "38.1"
    assert document.quote(next(c for c in found.cells if "·" in c.text).span) == r"4\cdot10^{2}"


def test_a_float_does_not_tear_its_paragraph_apart() -> None:
    document = read("One sentence that\n" + TABLE.strip() + "\ngoes on.")
    assert [b.kind.value for b in document.blocks] == ["paragraph", "caption", "table"]
    assert document.blocks[0].text == "One sentence that goes on."


def test_hline_tables_and_figures_are_read() -> None:
    document = read(
        "\\begin{tabular}{cc}\\hline A & B \\\\ \\hline 1 & 2 \\\\ 3 & \\\\ \\hline\n"
        "\\end{tabular}\n\n"
        "\\begin{figure}\\includegraphics[width=1cm]{duck}\\caption[short]{A duck.}\\end{figure}"
    )
    assert rows(document) == [["#A", "#B"], ["1", "2"], ["3", ""]]
    assert table(document).caption is None
    assert texts(document, BlockKind.CAPTION) == ["A duck."]


def test_footnotes_become_blocks_behind_their_paragraph() -> None:
    document = read(
        "Ducks \\footnote{A bird\\footnote{Really.}.}. They swim\\footnote{Far}.\n\nEnd."
    )
    assert [(b.kind.value, b.text) for b in document.blocks] == [
        ("paragraph", "Ducks. They swim."),
        ("footnote", "A bird."),
        ("footnote", "Really."),
        ("footnote", "Far"),
        ("paragraph", "End."),
    ]


def test_code_is_kept_and_drawings_are_not() -> None:
    document = read(
        "\\begin{lstlisting}[language=Python]\nx = {1} % kept\n\\end{lstlisting}\n"
        "\\begin{tikzpicture}\\node{no};\\end{tikzpicture}\\begin{comment}no\\end{comment}Yes."
    )
    assert texts(document, BlockKind.CODE) == ["x = {1} % kept"]
    assert texts(document, BlockKind.PARAGRAPH) == ["Yes."]


def test_the_bibliography_is_a_section_of_its_own() -> None:
    document = read(
        "\\section{One}\nSee \\cite{x}.\n\\begin{thebibliography}{9}\n"
        "\\bibitem{x} A. Author.\n\\newblock Ducks.\n\\end{thebibliography}"
    )
    assert tree(document)[-1] == (1, "References")
    assert document.blocks[-1].text == "[x] A. Author. Ducks."
    assert document.blocks[-1].section == ("References",)


def test_references_show_the_numbers_a_reader_sees() -> None:
    document = read(
        "\\section{A}\\section{B}\\subsection{C}\\label{c}\nText.\n"
        "\\begin{figure}\\caption{F}\\label{f}\\end{figure}\n"
        "\\begin{equation}\\label{e}x\\end{equation}\n\n"
        "In Section~\\ref{c}, Figure~\\ref{f}, \\eqref{e} and \\ref{gone}.\n"
    )
    assert document.blocks[-1].text == "In Section 2.1, Figure 1, (1) and gone."


def test_own_macros_are_expanded_and_point_at_their_calls() -> None:
    document = read(
        "Our \\sys{} has $\\dm$ of \\pair{a}{b} \\opt{z} and \\prog.",
        "\\newcommand{\\sys}{AbstRAG\\xspace}\n\\newcommand\\dm{d_{\\text{model}}}\n"
        "\\newcommand{\\pair}[2]{(#2, #1)}\n\\newcommand{\\opt}[2][y]{#1-#2}\n"
        "\\def\\prog{\\ifx a b c\\fi}\n\\DeclareMathOperator{\\x}{x}",
    )
    block = only(document)
    assert block.text == "Our AbstRAG has d_model of (b, a) y-z and prog."
    at = block.text.index("AbstRAG")
    assert document.quote(block.alignment.locate(at, at + 7)).startswith("\\sys")


def test_macros_that_call_themselves_or_explode_come_to_an_end() -> None:
    bomb = "".join(
        f"\\def\\{a}{{\\{b}\\{b}}}" for a, b in zip("abcdefghijk", "bcdefghijkl", strict=True)
    )
    assert "end" in only(read("\\a \\z end", bomb + "\\def\\l{xxxxxxxxxx}\\def\\z{\\z\\z}")).text


# --- inputs ---


def test_inputs_are_put_in_place_and_spans_point_into_the_whole(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "one.tex").write_text("First part.\n\n\\input{two}\n")
    (tmp_path / "two.tex").write_text("Second part.")
    (tmp_path / "main.bbl").write_text(
        "\\begin{thebibliography}{1}\\bibitem{x} X.\\end{thebibliography}"
    )
    document = read(
        "\\input{parts/one}\n% \\input{nowhere}\n\n\\bibliography{refs}", folder=tmp_path
    )
    assert [b.text for b in document.blocks] == [
        "First part.",
        "Second part.",
        "References",
        "[x] X.",
    ]
    assert document.quote(document.blocks[1].span) == "Second part."


def test_a_subfile_gives_its_body_only(tmp_path: Path) -> None:
    (tmp_path / "sub.tex").write_text(
        "\\documentclass[main]{subfiles}\n\\begin{document}\nBody.\n\\end{document}"
    )
    assert only(read("\\subfile{sub}", folder=tmp_path)).text == "Body."


def test_a_missing_input_is_named(tmp_path: Path) -> None:
    with pytest.raises(Damaged, match="'intro'") as caught:
        read("\\input{intro}", folder=tmp_path)
    assert str(tmp_path) in (caught.value.hint or "")
    with pytest.raises(Damaged, match="'intro'"):
        read("\\input{intro}")


def test_one_missing_part_among_several_is_shown_in_its_place(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.tex").write_text(f"Part {name}.")
    document = read("\\input{a}\n\n\\input{b}\n\n\\input{gone}\n\nEnd.", folder=tmp_path)
    assert [b.text for b in document.blocks] == ["Part a.", "Part b.", "\\input{gone}", "End."]


def test_an_input_the_preamble_wants_may_belong_to_tex() -> None:
    assert only(read("Text.", "\\input{glyphtounicode}")).text == "Text."


def test_inputs_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text("\\input{b}")
    (tmp_path / "b.tex").write_text("\\input{a}")
    with pytest.raises(Damaged, match="circle"):
        read("\\input{a}", folder=tmp_path)


def test_inputs_outside_the_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.tex").write_text("secret")
    inside = tmp_path / "project"
    inside.mkdir()
    (inside / "link.tex").symlink_to(tmp_path / "secret.tex")
    for name in ("../secret", str(tmp_path / "secret.tex"), "link"):
        with pytest.raises(Damaged, match="outside"):
            read(f"\\input{{{name}}}", folder=inside)


def test_inputs_that_multiply_are_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("abstrag.documents.latex_source.MAX_FILE_BYTES", 10_000)
    for i in range(12):
        (tmp_path / f"f{i}.tex").write_text(f"\\input{{f{i + 1}}}\\input{{f{i + 1}}}")
    (tmp_path / "f12.tex").write_text("words " * 10)
    with pytest.raises(FileTooLarge):
        read("\\input{f0}", folder=tmp_path)


COMMANDS = st.sampled_from(
    ["text ", "\n", "\n\n", "%", "{", "}", "[", "]", "$", "$$", "&", "\\\\", "~", "--", "``", "''"]
    + [
        "\\section{",
        "\\footnote{",
        "\\caption{",
        "\\item ",
        "\\frac{",
        "_{",
        "^",
        "\\'e",
        "\\cite{",
    ]
    + [
        f"\\{edge}{{{env}}}"
        for edge in ("begin", "end")
        for env in ("itemize", "table", "equation")
    ]
    + ["\\begin{tabular}{cc}", "\\end{tabular}", "\\hline", "\\multicolumn{2}{c}{", "\\verb|", "|"]
    + ["\\begin{verbatim}", "\\end{verbatim}", "\\newcommand{\\a}[1]{x#1y}", "\\a{", "\\a ", "\r\n"]
    + ["\\title{", "\\date{2024-01-02}", "\\appendix ", "\\begin{document}", "\\end{document}"]
)


@given(st.lists(COMMANDS, max_size=30).map("".join))
def test_any_latex_is_read_with_sound_spans(source: str) -> None:
    try:
        document = check_document(load_latex(source.encode(), "x.tex"))
    except AbstragError:
        return
    assert document.text == source or "\\end{document}" in source
