"""The compiler of the thesaurus: which pairs it keeps."""

from pathlib import Path

from abstrag.lexicon.inventory import unpack
from tools.compile_thesaurus import compiled, pairs, read

ENTRIES = """praise,commend,laud,praise the day
commend,praise
laud,applaud
halve,divide
table,praise
"""


def test_verbs_that_list_each_other_and_phrases_of_a_verb_are_kept(tmp_path: Path) -> None:
    source = tmp_path / "words.txt"
    source.write_text(ENTRIES, "latin-1")
    assert pairs(read(source)) == {("commend", "praise"), ("praise", "praise the day")}


def test_the_same_file_gives_the_same_bytes(tmp_path: Path) -> None:
    source = tmp_path / "words.txt"
    source.write_text(ENTRIES, "latin-1")
    made = compiled(source)
    assert made == compiled(source)
    (tmp_path / "made.bin").write_bytes(made)
    archive = unpack(tmp_path / "made.bin")
    assert archive.arrays["words"].tobytes().decode().split("\n") == [
        "commend",
        "praise",
        "praise the day",
    ]
