from pathlib import Path

import pytest

from abstrag.backgrounds.fact import BackgroundName, ClassMembership
from abstrag.backgrounds.source import BackgroundSource
from abstrag.errors import BackgroundError
from tests.unit.backgrounds.samples import table


def test_an_alias_line_names_its_thing_twice(tmp_path: Path) -> None:
    source = table(tmp_path, "alias,name,cost,confidence\nBig Blue,IBM,0.5,0.8\n")
    assert list(source.facts()) == [
        BackgroundName("name:IBM", "IBM", preferred=True, line=2),
        BackgroundName("name:IBM", "Big Blue", cost=0.5, confidence=0.8, line=2),
    ]


def test_classes_and_roles_have_headers_of_their_own(tmp_path: Path) -> None:
    classes = list(table(tmp_path, "thing,class\nIBM,computer maker\n").facts())
    roles = list(table(tmp_path, "type\trole\nexecutive\tCTO\n", "roles.tsv").facts())
    assert classes[-1] == ClassMembership("name:IBM", "name:computer maker", line=2)
    assert roles[-1] == ClassMembership("name:CTO", "name:executive", role=True, line=2)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('alias;name\n"Smith; Sons";"Smith ""S"" & Sons"\n', 'Smith "S" & Sons'),
        ("\ufeffAlias, Name\n\nx,Plain\n", "Plain"),
        ("alias,name\r\nx,Windows\r\n", "Windows"),
        ('alias,name\nx,"two\nlines"\n', "two lines"),
    ],
)
def test_dialects_marks_and_blank_lines_do_not_matter(tmp_path: Path, text: str, name: str) -> None:
    facts = list(table(tmp_path, text).facts())
    assert facts[0].thing == f"name:{name}"


def test_quotation_marks_in_tabbed_tables_are_letters(tmp_path: Path) -> None:
    facts = list(table(tmp_path, 'alias\tname\n5" disk\tfloppy disk\n', "a.tsv").facts())
    assert facts[1] == BackgroundName("name:floppy disk", '5" disk', line=2)


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("alias,name\nok,fine\nonly one\n", "line 3, column 2", "1 fields"),
        ("alias,name\na,b,c\n", "line 2, column 3", "3 fields"),
        ("alias,name\n,IBM\n", "line 2, column 1", "alias is empty"),
        ("alias,name,cost\na,b,dear\n", "line 2, column 3", "cost is 'dear'"),
        ("alias,name,cost\na,b,0.1\n", "line 2, column 3", "cost is 0.1"),
        ("alias,name,cost\na,b,nan\n", "line 2, column 3", "cost is nan"),
        ("alias,name,confidence\na,b,1.5\n", "line 2, column 3", "confidence is 1.5"),
        ("IBM,Big Blue\n", "line 1, column 1", "no header"),
        ("alias,name,price\na,b,1\n", "line 1, column 3", "'price'"),
        ("alias,name,name\na,b,c\n", "line 1, column 3", "twice"),
        ('alias,name\na,b\n"open,c\nd,e\n', "line 3, column 1", "told apart"),
        ("alias,name\na,b\0c\n", "line 2, column 4", "NUL"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, text: str, place: str, what: str) -> None:
    with pytest.raises(BackgroundError) as caught:
        list(table(tmp_path, text).facts())
    assert f"aliases.csv' {place}: " in str(caught.value)
    assert what in str(caught.value)
    assert caught.value.hint


def test_wrong_bytes_are_named_by_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes("alias,name\nné,b\n".encode("latin-1"))
    with pytest.raises(BackgroundError, match="line 2, column 2: byte 0xe9 is not UTF-8"):
        list(BackgroundSource.of(path).facts())


def test_sixteen_bits_with_a_mark_are_read(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("alias,name\nMünchen,Munich\n", "utf-16")
    assert list(BackgroundSource.of(path).facts())[1] == BackgroundName(
        "name:Munich", "München", line=2
    )
