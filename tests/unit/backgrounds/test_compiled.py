from math import log
from pathlib import Path

import pytest

from abstrag.backgrounds.source import BackgroundSource
from abstrag.backgrounds.touched import LEVELS, MOST_NAMES, SuggestionKind, TouchedFacts
from abstrag.model.background import EventRule
from tests.unit.backgrounds.samples import MRCONSO, MRREL, TURTLE, compiled, entity, table


def suggested(
    part: TouchedFacts, says: SuggestionKind = SuggestionKind.ALIAS
) -> dict[tuple[str, str], float]:
    return {(s.form, s.target): s.distance for s in part.suggestions if s.says is says}


def test_only_what_the_text_names_is_brought_in(tmp_path: Path) -> None:
    rows = "".join(f"alias {i},name {i}\n" for i in range(500))
    part = compiled(tmp_path, table(tmp_path, f"alias,name\n{rows}")).touched_by(
        ["They met alias 7."]
    )
    assert part.background.aliases == {"name 7": ("alias 7",)}
    assert part.origins == {("aliases.name 7", "alias 7"): "aliases.csv line 9"}
    assert part.suggestions == ()


@pytest.mark.parametrize(
    "text",
    [
        "BIG-BLUE grew",
        "the big  blue's plan",
        "a Big\nBlue",
    ],
)
def test_case_dashes_and_spaces_do_not_hide_a_name(tmp_path: Path, text: str) -> None:
    part = compiled(tmp_path, table(tmp_path, "alias,name\nBig Blue,IBM\n")).touched_by([text])
    assert part.background.aliases == {"IBM": ("Big Blue",)}


def test_a_plural_finds_its_singular(tmp_path: Path) -> None:
    classes = "thing,class\nchip supplier,company\nbattery,part\n"
    part = compiled(tmp_path, table(tmp_path, classes)).touched_by(["Chip suppliers; batteries"])
    assert part.background.classes == {"chip supplier": ("company",), "battery": ("part",)}


def test_capitals_are_not_found_in_small_words(tmp_path: Path) -> None:
    file = compiled(tmp_path, table(tmp_path, "alias,name\nWHO,World Health Organization\n"))
    assert file.touched_by(["those who came"]).background.aliases == {}
    assert file.touched_by(["WHO came"]).background.aliases != {}


def test_a_homonym_stays_open_and_each_reading_pays_its_share(tmp_path: Path) -> None:
    text = "alias,name,confidence\nMercury,Mercury Systems,1\nMercury,Freddie Mercury,0.5\n"
    part = compiled(tmp_path, table(tmp_path, text)).touched_by(["Mercury rose."])
    assert part.background.aliases == {}
    assert suggested(part) == {
        ("mercury", "Mercury Systems"): round(-log(2 / 3), 4),
        ("mercury", "Freddie Mercury"): round(-log(1 / 3), 4),
    }
    assert {s.confidence for s in part.suggestions} == {0.6667, 0.1667}


def test_a_homonym_is_no_premise_for_its_full_name_either(tmp_path: Path) -> None:
    text = "alias,name\nMercury,Mercury Systems\nMercury,Freddie Mercury\n"
    part = compiled(tmp_path, table(tmp_path, text)).touched_by(["Mercury Systems rose."])
    assert part.background.aliases == {}
    assert ("mercury systems", "Mercury") in suggested(part)


def test_what_is_stated_stands_whatever_a_dump_says(tmp_path: Path) -> None:
    (tmp_path / "dump.json").write_text(
        "\n".join([entity("Q1", "Mercury", "Hermes"), entity("Q2", "Mercury", "Hg")])
    )
    stated = table(tmp_path, "alias,name\nMercury,Mercury Systems\n")
    file = compiled(tmp_path, stated, BackgroundSource.of(tmp_path / "dump.json"))
    part = file.touched_by(["Mercury rose."])
    assert part.background.aliases == {"Mercury Systems": ("Mercury",)}
    assert suggested(part) == {
        ("mercury", "Hermes"): round(0.1 + log(2), 4),
        ("mercury", "Hg"): round(0.1 + log(2), 4),
    }


def test_the_names_of_two_schemes_are_no_homonyms(tmp_path: Path) -> None:
    (tmp_path / "drugs.ttl").write_text(TURTLE)
    (tmp_path / "MRCONSO.RRF").write_text(MRCONSO)
    file = compiled(
        tmp_path, *(BackgroundSource.of(tmp_path / n) for n in ("drugs.ttl", "MRCONSO.RRF"))
    )
    found = suggested(file.touched_by(["Zorvatin helps."]))
    assert found["zorvatin", "zorvatinic acid"] == 0.1


def test_a_vocabulary_pays_by_level(tmp_path: Path) -> None:
    (tmp_path / "drugs.ttl").write_text(TURTLE)
    part = compiled(tmp_path, BackgroundSource.of(tmp_path / "drugs.ttl", 0.2)).touched_by(
        ["Zorvatin"]
    )
    assert suggested(part, SuggestionKind.CLASS) == {
        ("zorvatin", "calming agent"): 0.35,
        ("zorvatin", "medicine"): 0.55,
    }
    assert part.suggestions[0].reference == ("drugs.ttl, http://drugs.example/1: Zorvatin = ZVA")


def test_the_two_files_of_umls_are_one_source(tmp_path: Path) -> None:
    (tmp_path / "MRCONSO.RRF").write_text(MRCONSO)
    (tmp_path / "MRREL.RRF").write_text(MRREL)
    file = compiled(
        tmp_path, *(BackgroundSource.of(tmp_path / n) for n in ("MRCONSO.RRF", "MRREL.RRF"))
    )
    part = file.touched_by(["zorvatinic acid"])
    assert suggested(part, SuggestionKind.CLASS) == {("zorvatinic acid", "calming agent"): 0.25}
    (reference,) = [s.reference for s in part.suggestions if s.says is SuggestionKind.CLASS]
    assert reference == "MRREL.RRF line 1, C01: zorvatinic acid is a calming agent"


def test_a_circle_of_classes_ends(tmp_path: Path) -> None:
    classes = "thing,class\na1,b1\nb1,c1\nc1,a1\n"
    part = compiled(tmp_path, table(tmp_path, classes)).touched_by(["a1"])
    assert part.background.classes == {"a1": ("b1", "c1")}


def test_classes_are_followed_so_far_and_no_farther(tmp_path: Path) -> None:
    rows = "".join(f"level{i},level{i + 1}\n" for i in range(LEVELS + 3))
    part = compiled(tmp_path, table(tmp_path, f"thing,class\n{rows}")).touched_by(["level0"])
    assert part.background.classes["level0"][-1] == f"level{LEVELS}"


def test_a_stated_way_up_is_free_though_a_shorter_one_pays(tmp_path: Path) -> None:
    stated = table(tmp_path, "thing,class\nax,tool\ntool,thing\n")
    guessed = table(tmp_path, "thing,class\nax,thing\ntool,object\n", "guessed.csv", 0.1)
    part = compiled(tmp_path, stated, guessed).touched_by(["an ax"])
    assert part.background.classes == {"ax": ("tool", "thing")}
    assert suggested(part, SuggestionKind.CLASS) == {("ax", "object"): 0.25}


def test_a_line_may_set_its_own_cost(tmp_path: Path) -> None:
    text = "alias,name,cost\nBig Blue,IBM,0\nBlue,IBM,0.75\n"
    part = compiled(tmp_path, table(tmp_path, text)).touched_by(["IBM"])
    assert part.background.aliases == {"IBM": ("Big Blue",)}
    assert suggested(part) == {("ibm", "Blue"): 0.4}


def test_of_two_costs_the_lower_stands(tmp_path: Path) -> None:
    text = "alias,name,cost\nBlue,IBM,0.95\nBlue,IBM,0.55\n"
    part = compiled(tmp_path, table(tmp_path, text)).touched_by(["IBM"])
    assert suggested(part) == {("ibm", "Blue"): 0.2}
    assert part.suggestions[0].reference == "aliases.csv line 3: IBM = Blue"


def test_roles_are_kept_apart_from_classes(tmp_path: Path) -> None:
    part = compiled(tmp_path, table(tmp_path, "role,type\nCTO,executive\n")).touched_by(["CTO"])
    assert part.background.roles == {"CTO": ("executive",)}
    assert part.background.classes == {}


def test_of_hundreds_of_names_the_nearest_are_suggested_and_all_stated_ones_kept(
    tmp_path: Path,
) -> None:
    rows = "".join(f"alias {i:03},the thing\n" for i in range(3 * MOST_NAMES))
    (tmp_path / "far").mkdir()
    (tmp_path / "near").mkdir()
    far = compiled(tmp_path / "far", table(tmp_path / "far", f"alias,name\n{rows}", distance=0.1))
    near = compiled(tmp_path / "near", table(tmp_path / "near", f"alias,name\n{rows}"))
    assert len(far.touched_by(["the thing"]).suggestions) == MOST_NAMES - 1
    assert len(near.touched_by(["the thing"]).background.aliases["the thing"]) == 3 * MOST_NAMES


def test_the_name_changes_with_the_content_and_the_file_is_remembered(tmp_path: Path) -> None:
    first = compiled(tmp_path, table(tmp_path, "alias,name\nBig Blue,IBM\n"))
    second = compiled(tmp_path, table(tmp_path, "alias,name\nBig Blue,HAL\n"))
    assert first.path == second.path
    assert first.name != second.name
    kept = second.touched_by(["Big Blue"]).background
    assert (kept.name, kept.compiled) == (second.name, str(tmp_path / "bg.db"))


def test_a_background_file_is_a_source_and_its_rules_come_whole(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'known = ["light"]\n[aliases]\nIBM = ["Big Blue"]\n[classes]\nIBM = ["firm"]\n'
        '[roles]\nCTO = ["executive"]\n[anchors]\nFY1 = "2001-01-01"\n'
        '[[events]]\nsource = "visit"\ntarget = "deal"\n'
    )
    aliases = table(tmp_path, "alias,name\nHal,IBM\n")
    found = (
        compiled(tmp_path, BackgroundSource.of(path), aliases).touched_by(["Big Blue"]).background
    )
    assert found.aliases == {"IBM": ("Hal", "Big Blue")}
    assert found.classes == {"Big Blue": ("firm",)}
    assert (found.roles, found.known) == ({}, ("light",))
    assert found.anchors == {"FY1": "2001-01-01"}
    assert found.events == (EventRule("visit", "deal"),)


def test_what_is_stated_of_a_short_form_is_stated_of_what_it_stands_for(tmp_path: Path) -> None:
    names = table(tmp_path, "alias,name\nLSTM,long short-term memory\n")
    classes = table(tmp_path, "thing,class\nLSTM,neural network\n", name="classes.csv")
    file = compiled(tmp_path, names, classes)
    for text in ("We train LSTMs.", "A long short-term memory is trained."):
        made = file.touched_by([text])
        assert made.suggestions == ()
        assert [*made.background.classes.values()] == [("neural network",)]


def test_a_short_form_of_two_things_is_neither(tmp_path: Path) -> None:
    names = table(tmp_path, "alias,name\nCNN,convolutional network\nCNN,Cable News Network\n")
    classes = table(tmp_path, "thing,class\nCNN,broadcaster\n", name="classes.csv")
    file = compiled(tmp_path, names, classes)
    made = file.touched_by(["CNN reports."])
    assert made.background.classes == {}
    assert "broadcaster" in {one.target for one in made.suggestions}
