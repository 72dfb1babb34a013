"""The compiler, on a database of seven synsets written by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import WordNet

TOOL = Path(__file__).parents[3] / "tools" / "compile_wordnet.py"
# data: offset, file, type, words (hex) with lex_id, pointers, gloss; index: lemma, type, senses,
# pointers, senses, tagged senses, offsets. The verbs are each other's hypernyms.
FILES = {
    "data.noun": """\
  1 WordNet 9.9 Copyright 2006
00000010 03 n 01 entity 0 001 ~ 00000020 n 0000 | what is
00000020 05 n 02 Dog 0 guard_dog 0 003 @ 00000010 n 0000 + 00000010 v 0101 + 00000020 v 0201 | pet
00000030 15 n 01 Rex 0 001 @i 00000020 n 0000 | a certain dog | and more
""",
    "index.noun": """\
  1 WordNet 9.9 Copyright 2006
dog n 1 2 @ + 1 1 00000020
entity n 1 1 ~ 1 0 00000010
guard_dog n 1 2 @ + 1 0 00000020
rex n 1 1 @i 1 0 00000030
""",
    "data.verb": """\
00000010 38 v 01 dog 0 003 @ 00000020 v 0000 * 00000020 v 0000 + 00000020 n 0101 01 + 08 00 | go
00000020 38 v 02 guard 0 dog 1 003 @ 00000010 v 0000 > 00000010 v 0000 + 00000020 n 0102 00 | keep
""",
    "index.verb": """\
dog v 2 2 @ + 2 1 00000020 00000010
guard v 1 1 @ 1 0 00000020
""",
    "data.adj": """\
  1 WordNet 9.9 Copyright 2006
00000010 00 a 01 loyal(p) 0 002 & 00000020 a 0000 ! 00000010 a 0101 | true
00000020 00 s 01 loyal 0 001 & 00000010 a 0000 | true, too
""",
    "index.adj": "loyal a 2 2 & ! 2 0 00000010 00000020\n",
    "data.adv": "",
    "index.adv": "",
    "noun.exc": "dogen dog\ndogen guard_dog dog\n",
    "verb.exc": "dug dog\n",
    "adj.exc": "",
    "adv.exc": "",
    "index.sense": """\
dog%1:05:00:: 00000020 1 12
dog%2:38:00:: 00000010 2 0
dog%2:38:01:: 00000020 1 3
""",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "dict"
    made.mkdir()
    for name, text in FILES.items():
        (made / name).write_text(text)
    return made


def compiled(folder: Path, output: Path, seed: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOL), str(folder), "--output", str(output)]
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_the_same_files_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    outputs = [tmp_path / "one.bin", tmp_path / "two.bin"]
    for seed, output in enumerate(outputs):
        done = compiled(folder, output, seed)
        assert done.returncode == 0, done.stderr
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


def test_what_the_files_say_can_be_asked(folder: Path, tmp_path: Path) -> None:
    done = compiled(folder, tmp_path / "tiny.bin")
    assert "dropped, it closes a cycle: guard.v.01 under dog.v.02" in done.stdout
    wn = WordNet.load(tmp_path / "tiny.bin")
    entity, dog, rex, chase, guard, loyal, satellite = range(len(wn))
    assert wn.version == "9.9"
    assert wn.sources["data.noun"] == sha256((folder / "data.noun").read_bytes()).hexdigest()
    assert [wn.name(s) for s in range(len(wn))] == [
        "entity.n.01",
        "dog.n.01",
        "rex.n.01",
        "dog.v.02",
        "guard.v.01",
        "loyal.a.01",
        "loyal.s.01",
    ]
    assert wn.lemmas(dog) == ("Dog", "guard dog")
    assert wn.synsets("dog", Pos.VERB) == (guard, chase)
    assert wn.synsets("dug", Pos.VERB) == (guard, chase)
    assert wn.morphy("dogen", Pos.NOUN) == "guard dog"
    assert (wn.count("dog", dog), wn.count("dog", guard), wn.count("guard dog", dog)) == (12, 3, 0)
    assert wn.ancestors(rex) == (dog, entity)
    assert (wn.is_instance(rex), wn.is_instance(dog)) == (True, False)
    assert wn.hyponyms(entity) == (dog,)
    assert (wn.hypernyms(chase), wn.hypernyms(guard)) == ((guard,), ())
    assert wn.entailments(chase) == (guard,)
    assert wn.causes(guard) == (chase,)
    assert wn.similar(loyal) == (satellite,)
    assert wn.antonyms("loyal", Pos.ADJECTIVE) == ("loyal",)
    assert wn.derived("dog", Pos.NOUN) == (("dog", Pos.VERB),)
    assert wn.derived("guard dog", Pos.NOUN) == (("guard", Pos.VERB),)
    assert wn.wup(dog, rex) == 2 * 2 / (2 * 2 + 1)


def test_unconnected_nouns_have_no_similarity(folder: Path, tmp_path: Path) -> None:
    # Nouns get no simulated root, so NLTK says None here.
    path = folder / "data.noun"
    path.write_text(path.read_text().replace("001 @i 00000020 n 0000 |", "000 |"))
    compiled(folder, tmp_path / "tiny.bin")
    wn = WordNet.load(tmp_path / "tiny.bin")
    dog, rex = wn.synset("dog.n.01"), wn.synset("rex.n.01")
    assert wn.lowest_common(dog, rex) is None
    assert wn.wup(dog, rex) == 0.0


def test_a_missing_source_is_named(folder: Path, tmp_path: Path) -> None:
    (folder / "index.sense").unlink()
    done = compiled(folder, tmp_path / "tiny.bin")
    assert done.returncode == 2
    assert "lacks index.sense" in done.stderr
    assert not (tmp_path / "tiny.bin").exists()
