import pytest

from abstrag.documents.load import load_bytes
from abstrag.indexing.genre import detect_genre
from abstrag.model.document import Block, BlockKind, Document, Genre, Metadata, OffsetMap, Span


def document(*blocks: tuple[BlockKind, str], genre: Genre | None = None) -> Document:
    text = "\n".join(t for _, t in blocks)
    made, at = [], 0
    for kind, piece in blocks:
        made.append(Block(kind, piece, Span(at, at + len(piece)), OffsetMap(((0, at),))))
        at += len(piece) + 1
    return Document("d", "", text, tuple(made), Metadata(genre=genre))


H, P, L = BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.LIST_ITEM
PAPER = [(H, "Abstract"), (P, "We present a model."), (H, "1 Introduction"), (P, "Models matter.")]
PAPER += [(H, "2 Method"), (P, "Our model has layers."), (H, "References"), (P, "A book.")]
SYSTEM = [(H, "Abstract"), (P, "The servers of a cluster need replication for clients.")]
SYSTEM += [(H, "Design"), (P, "The design of the architecture gives throughput and low latency.")]
SYSTEM += [(H, "References"), (P, "A book."), (H, "Introduction"), (P, "Deployment in production.")]


@pytest.mark.parametrize(
    ("blocks", "genre"),
    [
        (PAPER, Genre.SCIENTIFIC),
        (SYSTEM, Genre.ENGINEERING),
        (
            [(P, "In this study, patients were randomized. Results show an effect.")],
            Genre.ABSTRACT_ONLY,
        ),
        ([(P, "The Receiving Party shall hold all Confidential Information herein.")], Genre.LEGAL),
        ([(P, "Net revenue for the fiscal quarter rose; gross margin fell.")], Genre.REPORT),
        (
            [(P, "The mayor said on Tuesday that the bridge, a spokesman announced, is open.")],
            Genre.NEWS,
        ),
        ([(L, "Founded: 1987"), (L, "Seat: Hsinchu"), (P, "A maker.")], Genre.PAGE_LOCAL),
        ([(P, "Once upon a time there was a duck.")], Genre.PLAIN),
    ],
)
def test_the_genre_shows(blocks: list[tuple[BlockKind, str]], genre: Genre) -> None:
    assert detect_genre(document(*blocks)) is genre


SAID = ["Ann: The net income fell.", "Bob: By how much, and why?", "Ann: By a third."]


@pytest.mark.parametrize(
    "said",
    [
        [*SAID, "Bob: I see.", "Ann: So do I.", "Bob: Good."],
        ["Um, I think, uh, the case can be, um, single curved.", "Yeah.", "Okay, let us move on."],
    ],
)
def test_a_conversation_shows_by_its_turns_or_by_how_people_speak(said: list[str]) -> None:
    assert detect_genre(document(*[(P, text) for text in said])) is Genre.TRANSCRIPT


def test_a_form_about_patients_is_no_abstract() -> None:
    entries = ["Patients with known heart failure", "Results of the study: 26.5 of 74 patients"]
    assert detect_genre(document(*[(P, text) for text in entries])) is Genre.PLAIN
    assert detect_genre(document(*[(P, f"{text}.") for text in entries])) is Genre.PLAIN
    told = [f"{text}, as was found when all of them had been seen again." for text in entries]
    assert detect_genre(document(*[(P, text) for text in told])) is Genre.ABSTRACT_ONLY


def test_an_annual_report_is_one_though_its_figures_come_late() -> None:
    business = [(P, "We design shoes and sell them in our own stores, and to others. " * 1500)]
    figures = [(P, "Net income and gross margin fell; diluted earnings rose. " * 40)]
    headings = [(H, "Methods"), (H, "Results"), (H, "Discussion")]
    assert detect_genre(document(*business, *headings, *figures)) is Genre.REPORT


def test_what_somebody_said_wins() -> None:
    assert detect_genre(document(*PAPER, genre=Genre.LEGAL)) is Genre.LEGAL


def test_an_article_that_lists_its_points_in_sentences_is_no_page_of_entries() -> None:
    points = "\n".join(f"- The {n}. machine was sold to offices for many years." for n in range(9))
    entries = "\n".join(f"- Machine {n}, sold to offices" for n in range(9))
    found = [
        detect_genre(load_bytes(f"# Machines\n\n{items}\n".encode(), name="a.md"))
        for items in (points, entries)
    ]
    assert found == [Genre.PLAIN, Genre.PAGE_LOCAL]


def test_a_cover_makes_a_report_whatever_the_headings_say() -> None:
    paper = (
        "## Abstract\n\nOne.\n\n## Methods\n\nTwo.\n\n## Results\n\nThree.\n\n## References\n\nA."
    )
    cover = "# Harbour Tools Reports Second Quarter 2023 Results\n\n"
    assert detect_genre(load_bytes(paper.encode(), name="a.md")) is Genre.SCIENTIFIC
    assert detect_genre(load_bytes((cover + paper).encode(), name="a.md")) is Genre.REPORT
