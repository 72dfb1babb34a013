"""The page on how it works shows the code's numbers, all of them and no others."""

import re
from pathlib import Path

import pytest

from abstrag.config import (
    DELTA_ABS_BASELINE,
    DELTA_ABS_ONE_WAY,
    DELTA_EVENT_ARTIFACT,
    DELTA_EVENT_SLOT,
    DELTA_EXPR_ALIAS,
    DELTA_INTENT_CAP,
    DELTA_INTENT_CONTEXT,
    DELTA_INTENT_OFFLINE,
    KAPPA,
    MAX_GAP,
    MAX_LITERALS,
    OMEGA,
    TAU,
)
from abstrag.search.judging import CELLS, CLAUSES, TURNS
from abstrag.search.relevance import (
    DEFAULT_PRESET,
    GENERAL,
    LEAST_JUDGEMENT,
    PRESETS,
    Coverage,
    Pooling,
)
from abstrag.search.scoring import STATED

TEXT = (Path(__file__).parent.parent / "docs" / "concepts.md").read_text("utf-8")
LINK = re.compile(r"\]\([^)]*\)")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
DELTA = {  # what the table says of δ beyond the measure itself, in its order
    "expression": [DELTA_EXPR_ALIAS],
    "concept": [DELTA_ABS_BASELINE, DELTA_ABS_ONE_WAY],
    "intent": [DELTA_INTENT_CAP, DELTA_INTENT_OFFLINE, DELTA_INTENT_CONTEXT],
    "event": [DELTA_EVENT_SLOT, DELTA_EVENT_ARTIFACT],
    "context": [],
    "related": [],
}
SENTENCES = {  # N stands for a number
    "is an edge at cost N": [0],
    "A query becomes at most N weighted literals": [MAX_LITERALS],
    "within the budget τ: N": [TAU],
    "κ + (N − κ)·missing with κ = N": [MAX_GAP, KAPPA],
    "grows from N to N": [0, 1],
    "Gap is either b* or N": [MAX_GAP],
    "up to N for a word that has nothing": [MAX_GAP],
    "gives less than N, counts as N": [LEAST_JUDGEMENT, LEAST_JUDGEMENT],
    "probability counts as at least N": [STATED],
    "as much text as N paragraphs": [GENERAL.judged],
    "N on either side": [TURNS.reach],
    "weighing N and the others N": [TURNS.share, TURNS.share**TURNS.reach],
    "its neighbours with a weight of N each": [CELLS.share],
    "Basic | N": [0.36],  # a row of somebody's table
}


def flat(text: str) -> str:
    """Return a text on one line, without the addresses of its links."""
    return " ".join(LINK.sub("]", text).replace("[", "").replace("]", "").split())


def rows(header: str) -> list[list[str]]:
    """Return the cells of the table under a header, row by row."""
    _, _, after = TEXT.partition(f"\n{header}\n")
    assert after, f"no table under {header!r}"
    lines = after.partition("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def first_word(cell: str) -> str:
    found = re.match(r"`?(\w+)", cell)
    assert found is not None, cell
    return found[1]


def numbers(text: str) -> list[float]:
    return [float(number) for number in NUMBER.findall(text)]


def test_the_families_have_their_weights() -> None:
    shown = {first_word(name): float(omega) for name, omega, _ in rows("| family | ω | δ |")}
    assert shown == {name: OMEGA[name] for name in DELTA}


def test_the_distances_have_their_constants() -> None:
    cells = {first_word(name): delta for name, _, delta in rows("| family | ω | δ |")}
    # the 1 of “1 − similarity” is no constant of ours
    assert {name: numbers(re.sub(r"\b1 −", "", cell)) for name, cell in cells.items()} == DELTA


POOLED = {Pooling.ODDS: "in odds", Pooling.MEAN: "a mean", Pooling.PRODUCT: "a product"}
PRESET_HEADER = "| preset | a | b | c | coverage | words | embeddings | judge | alignment | "
PRESET_HEADER += "Match is | Gap |"


def test_every_preset_is_shown_with_its_exponents_and_weights() -> None:
    shown = {first_word(row[0]): [float(cell) for cell in row[1:9]] for row in rows(PRESET_HEADER)}
    assert shown == {
        name: [
            *(preset.match_power, preset.utility_power, preset.gap_rate),
            *(preset.coverage_weight, preset.lexical_weight),
            *(preset.dense_weight, preset.judge_weight, preset.alignment_weight),
        ]
        for name, preset in PRESETS.items()
    }


def test_every_preset_is_shown_with_its_kind_of_match_and_gap() -> None:
    shown = {first_word(row[0]): row[9:] for row in rows(PRESET_HEADER)}
    assert shown == {
        name: [
            POOLED[preset.pooling],
            f"b* or {MAX_GAP:g}" if preset.hard_gap else "smooth",
        ]
        for name, preset in PRESETS.items()
    }
    hard = {first_word(row[0]) for row in rows(PRESET_HEADER) if "all or nothing" in row[0]}
    assert hard == {n for n, p in PRESETS.items() if p.coverage is Coverage.HARD}
    default = {first_word(row[0]) for row in rows(PRESET_HEADER) if "default" in row[0]}
    assert default == {DEFAULT_PRESET.name}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_has_the_codes_numbers(sentence: str) -> None:
    (found,) = re.finditer(pattern(sentence), flat(TEXT))
    assert [float(group) for group in found.groups()] == pytest.approx(SENTENCES[sentence])


def pattern(sentence: str) -> str:
    return re.sub(r"\bN\b", lambda _: rf"({NUMBER.pattern})", re.escape(sentence))


def test_what_the_page_says_without_a_number_holds() -> None:
    assert CELLS.share == CLAUSES.share  # one sentence is about both


def test_no_other_number_stands_on_the_page() -> None:
    prose = flat(re.sub(r"^\|.*$", "", TEXT, flags=re.MULTILINE))
    for sentence in SENTENCES:
        prose = re.sub(pattern(sentence), "", prose)
    assert numbers(prose) == []
