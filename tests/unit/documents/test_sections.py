from abstrag.documents.assemble import TITLE, Sections


def test_a_heading_stands_below_the_headings_above_it() -> None:
    sections = Sections()
    assert sections.enter(1, "Methods") == ()
    assert sections.enter(2, "Data") == ("Methods",)
    assert sections.path == ("Methods", "Data")


def test_a_heading_closes_sections_of_its_own_level_and_deeper() -> None:
    sections = Sections()
    for level, heading in ((1, "Methods"), (2, "Data"), (3, "Cleaning")):
        sections.enter(level, heading)
    assert sections.enter(2, "Model") == ("Methods",)
    assert sections.enter(1, "Results") == ()
    assert sections.path == ("Results",)


def test_levels_may_be_skipped() -> None:
    sections = Sections()
    sections.enter(1, "Methods")
    sections.enter(4, "Note")
    assert sections.enter(3, "Data") == ("Methods",)


def test_a_title_is_on_no_path() -> None:
    sections = Sections()
    assert sections.enter(TITLE, "A Title") == ()
    assert sections.path == ()
    assert sections.enter(1, "Methods") == ()
