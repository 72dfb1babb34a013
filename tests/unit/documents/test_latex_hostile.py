r"""LaTeX made to cost more than it weighs, and what lies about beside a LaTeX file."""

import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from abstrag.documents import latex_source
from abstrag.documents.latex import load_latex
from abstrag.documents.latex_source import sources
from abstrag.documents.load import load, load_bytes
from abstrag.errors import Damaged, DocumentError, FileTooLarge, NotAFile
from tests.unit.documents.limited import calls, growth, read_limited


def document(body: str, preamble: str = "") -> str:
    return f"\\documentclass{{article}}{preamble}\\begin{{document}}\n{body}\n\\end{{document}}\n"


def written(file: Path, body: str, preamble: str = "") -> Path:
    file.write_text(document(body, preamble))
    return file


# --- macros ---


def doubling(times: int, factor: int) -> str:
    names = [f"\\m{chr(ord('a') + i)}" for i in range(times + 1)]
    steps = (
        f"\\newcommand{{{one}}}[1]{{{other}{{{'#1' * factor}}}}}" for one, other in pairwise(names)
    )
    return "".join(steps) + f"\\newcommand{{{names[-1]}}}[1]{{}}"


def test_macros_that_multiply_their_arguments_are_refused(tmp_path: Path) -> None:
    outcome = read_limited(written(tmp_path / "a.tex", "\\ma{hello} text", doubling(14, 8)))
    assert (outcome.error, bool(outcome.hint)) == ("FileTooLarge", True)
    assert "'a.tex'" in outcome.message
    assert "MAX_MACRO_CHARS" in outcome.message


def test_what_macros_would_expand_to_is_counted_before_it_is_made() -> None:
    data = document("\\ma{" + "x" * 1_000_000 + "}", doubling(2, 9)).encode()

    def read() -> None:
        with pytest.raises(FileTooLarge, match="MAX_MACRO_CHARS"):
            load_latex(data, "a.tex")

    assert calls(read) < 5_000


def test_macros_that_call_one_another_and_show_nothing_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(latex_source, "MAX_MACRO_EXPANSIONS", 1_000)
    many = "".join(
        "\\def\\" + one + "{" + f"\\{other}" * 4 + "}" for one, other in pairwise("abcdefgh")
    )
    with pytest.raises(FileTooLarge, match=r"'a\.tex' .* MAX_MACRO_EXPANSIONS"):
        load_bytes(document("\\a text", many + "\\def\\h{}").encode(), name="a.tex")
    few = "\\newcommand{\\x}[1]{<#1>}"
    read = load_bytes(document("\\x{a} " * 900, few).encode(), name="a.tex")
    assert read.blocks[0].text.startswith("<a> <a>")


# --- inputs ---


def test_files_that_input_the_next_twice_are_refused(tmp_path: Path) -> None:
    for i in range(30):
        (tmp_path / f"c{i}.tex").write_text(f"\\input{{c{i + 1}}}\\input{{c{i + 1}}}")
    (tmp_path / "c30.tex").write_text("")
    outcome = read_limited(written(tmp_path / "main.tex", "\\input{c0}"))
    assert outcome.error == "FileTooLarge"
    assert "MAX_INPUTS" in outcome.message


def test_a_chain_of_inputs_is_refused_where_it_grows_too_long(tmp_path: Path) -> None:
    for i in range(1_200):
        (tmp_path / f"c{i}.tex").write_text(f"part {i} \\input{{c{i + 1}}}")
    (tmp_path / "c1200.tex").write_text("the end")
    with pytest.raises(FileTooLarge, match=r"'main\.tex' .* MAX_INPUT_DEPTH") as caught:
        load(written(tmp_path / "main.tex", "\\input{c0}"))
    assert caught.value.hint
    assert load(written(tmp_path / "main.tex", "\\input{c1170}")).blocks[0].text.endswith("end")


# --- long stretches of one thing ---


@pytest.mark.parametrize(
    "body",
    [
        lambda n: "".join(f"\\verb{chr(0x4E00 + i)}" for i in range(n)),
        lambda n: "\\verb|" * n,
        lambda n: "\\(a " * n,
        lambda n: "\\begin{itemize}\\item a " * n,
        lambda n: "\\begin{center}" * n + "\\label{a}\\end{b} " * n + "text",
        lambda n: "\\begin{tabular}{l}x" + "\\hline " * n + "\\end{tabular}",
        lambda n: "\\item[" * n + "{]} text",
        lambda n: "\\vskip" + " " * n + "x $a^{" + " " * n + "{}}$",
    ],
    ids=["verb", "one bar", "formulas", "lists", "labels", "rules", "options", "blanks"],
)
def test_the_work_for_long_stretches_of_latex_grows_with_them(
    tmp_path: Path, body: Callable[[int], str]
) -> None:
    assert growth(lambda n: load_latex(document(body(n)).encode(), "a.tex"), 1_000) < 2.2
    assert read_limited(written(tmp_path / "a.tex", body(20_000))).error == ""


def test_labels_of_items_in_one_another_are_read() -> None:
    deep = "\\item[{" * 200 + "a" + "}]" * 200
    assert load_latex(document(deep).encode(), "a.tex").blocks


# --- beside the file ---


def beside(folder: Path) -> dict[str, Path]:
    """Make everything that lies about beside a LaTeX file and is none."""
    (folder / ".#main.tex").symlink_to("somebody@host.1234")  # the lock of an editor
    (folder / "loop.tex").symlink_to(folder / "loop.tex")
    (folder / "folder.tex").mkdir()
    os.mkfifo(folder / "pipe.tex")
    (folder / "zero.tex").symlink_to("/dev/zero")
    made = {p.name: p for p in folder.iterdir()}
    odd = os.fsencode(folder) + b"/odd\xff.tex"
    Path(os.fsdecode(odd)).write_text("odd")
    return made


def test_what_lies_beside_a_latex_file_and_cannot_be_read_is_no_part_of_it(tmp_path: Path) -> None:
    beside(tmp_path)
    main = written(tmp_path / "main.tex", "Text.")
    (tmp_path / "part.tex").write_text("Part.")
    assert sources(main) == [main, tmp_path / "part.tex"]
    assert load(main).blocks[0].text == "Text."


@pytest.mark.parametrize("name", [".#main", "loop", "folder", "pipe", "zero", "n" * 5000])
def test_a_document_that_inputs_what_is_no_file_is_refused(tmp_path: Path, name: str) -> None:
    beside(tmp_path)
    with pytest.raises(Damaged, match=r"'main\.tex' inputs"):
        load(written(tmp_path / "main.tex", f"\\input{{{name}}}"))


@pytest.mark.parametrize("name", [".#main.tex", "loop.tex", "folder.tex", "pipe.tex", "zero.tex"])
def test_a_path_that_is_no_file_has_one_clear_error(tmp_path: Path, name: str) -> None:
    path = beside(tmp_path)[name]
    with pytest.raises(DocumentError) as caught:
        load(path)
    assert name in str(caught.value)
    assert caught.value.hint
    if path.is_dir() or path.is_fifo():
        assert isinstance(caught.value, NotAFile)


def test_a_file_beside_it_that_may_not_be_read_is_no_part_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = written(tmp_path / "main.tex", "Text.")
    (tmp_path / "locked.tex").write_text("Locked.")
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "locked.tex":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert sources(main) == [main]


def test_an_input_larger_than_a_file_may_be_is_read_no_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(latex_source, "MAX_FILE_BYTES", 1_000)
    (tmp_path / "large.tex").write_text("words " * 1_000)
    with pytest.raises(FileTooLarge, match=r"'main\.tex' .* MAX_FILE_BYTES"):
        load(written(tmp_path / "main.tex", "\\input{large}"))
