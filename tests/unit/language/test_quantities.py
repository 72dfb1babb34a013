import time
from math import isfinite

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstrag.language.quantities import find_quantities
from abstrag.model.record import from_json, to_json
from abstrag.model.term import Quantity

# (text, what is found in it: surface, value, unit)
EXAMPLES = [
    ("a 3 nm process", [("3 nm", 3, "nm")]),
    ("TSMC's 3-nm node", [("3-nm", 3, "nm")]),
    ("3 nanometers", [("3 nanometers", 3, "nm")]),
    ("rose 12.5%", [("12.5%", 12.5, "%")]),
    ("rose 12.5 percent", [("12.5 percent", 12.5, "%")]),
    ("rose 12.5 per cent", [("12.5 per cent", 12.5, "%")]),
    ("$4.2 billion", [("$4.2 billion", 4.2e9, "USD")]),
    ("USD 300 million", [("USD 300 million", 3e8, "USD")]),
    ("300 million dollars", [("300 million dollars", 3e8, "USD")]),
    ("€1,200", [("€1,200", 1200, "EUR")]),
    ("£5m and $4B", [("£5m", 5e6, "GBP"), ("$4B", 4e9, "USD")]),
    ("US$1.5bn", [("US$1.5bn", 1.5e9, "USD")]),
    ("1,234", [("1,234", 1234, "")]),
    ("15 000 children", [("15 000", 15000, "")]),
    ("10k users, 300 K", [("10k", 10000, ""), ("300 K", 300, "K")]),
    ("5-fold", [("5-fold", 5, "fold")]),
    ("a fivefold rise", [("fivefold", 5, "fold")]),
    ("3x faster", [("3x", 3, "times")]),
    ("two-thirds of", [("two-thirds", 2 / 3, "")]),
    ("three-quarters", [("three-quarters", 0.75, "")]),
    ("one-half", [("one-half", 0.5, "")]),
    ("twelve people", [("twelve", 12, "")]),
    ("twenty-one days", [("twenty-one days", 21, "day")]),
    ("two hundred and fifty patients", [("two hundred and fifty", 250, "")]),
    ("a hundred euros", [("a hundred euros", 100, "EUR")]),
    ("three million", [("three million", 3e6, "")]),
    ("two dozen eggs", [("two dozen", 24, "")]),
    ("within thirty (30) days", [("thirty (30) days", 30, "day")]),
    ("one of them took one week", [("one week", 1, "week")]),
    ("10^-3", [("10^-3", 1e-3, "")]),
    ("10^−3 and 10⁻³", [("10^−3", 1e-3, ""), ("10⁻³", 1e-3, "")]),
    ("1e-5", [("1e-5", 1e-5, "")]),
    ("3.2 × 10^5 cells", [("3.2 × 10^5", 3.2e5, "")]),
    ("1×10(-7)", [("1×10(-7)", 1e-7, "")]),
    ("1·08", [("1·08", 1.08, "")]),
    ("between 5 and 10 mg", [("5", 5, "mg"), ("10 mg", 10, "mg")]),
    ("5–10 mg", [("5", 5, "mg"), ("10 mg", 10, "mg")]),
    ("5 - 10 mg", [("5", 5, "mg"), ("10 mg", 10, "mg")]),
    ("5 ± 2 mg", [("5", 5, "mg"), ("2 mg", 2, "mg")]),
    ("two to three weeks", [("two", 2, "week"), ("three weeks", 3, "week")]),
    ("doses of 5, 10, and 20 mg", [("5", 5, "mg"), ("10", 10, "mg"), ("20 mg", 20, "mg")]),
    ("$5–10 million", [("$5", 5e6, "USD"), ("10 million", 1e7, "USD")]),
    ("from $900 to $1 million", [("$900", 900, "USD"), ("$1 million", 1e6, "USD")]),
    ("p < 0.05, 95% CI", [("0.05", 0.05, ""), ("95%", 95, "%")]),
    ("p < 0.05 and 95%", [("0.05", 0.05, ""), ("95%", 95, "%")]),
    ("€1,200, 1,234", [("€1,200", 1200, "EUR"), ("1,234", 1234, "")]),
    ("-5 °C", [("-5 °C", -5, "°C")]),
    ("−3.2%", [("−3.2%", -3.2, "%")]),
    ("-$5 million", [("-$5 million", -5e6, "USD")]),
    ("5 mg/kg/day", [("5 mg/kg/day", 5, "mg/kg/day")]),
    ("3 μm and 3 µm", [("3 μm", 3, "µm"), ("3 µm", 3, "µm")]),
    ("2 mW is not 2 MW", [("2 mW", 2, "mW"), ("2 MW", 2, "MW")]),
    ("a 3-year, 24-hour test", [("3-year", 3, "year"), ("24-hour", 24, "h")]),
    ("0.5 percentage points", [("0.5 percentage points", 0.5, "pp")]),
    ("50 square  kilometers", [("50", 50, "")]),
    ("50 square kilometers", [("50 square kilometers", 50, "km²")]),
    ("50 Hz", [("50 Hz", 50, "Hz")]),
    ("it is 5 in the shade", [("5", 5, "")]),
]

NOT_QUANTITIES = [
    "COVID-19, GPT-4, B2B, IL-6, H1N1, 5G, 3-D, 25(OH)D",
    "as shown [12] and [3, 4] and [5–7]",
    "see Section 3.1, Figure 2, Tables 2-4 and eq. (4)",
    "type 2 diabetes in a phase 3 trial, pp. 3-5",
    "3.1 Results of the study",
    "2. Methods",
    "1) first\n(2) second",
    "version 3.1.2 at 192.168.0.1",
    "call 555-1234 or (555) 123-4567",
    "at 10:30, 3 pm or 3 p.m.",
    "1/2 or 1:2",
    "(Collins, 2002) and Djuric et al. (2014)",
    "one of a third party",
    "1e999",
    "the 2nd and 3rd",
    "",
]


@pytest.mark.parametrize(("text", "expected"), EXAMPLES)
def test_a_number_is_found_with_its_unit(text: str, expected: list[tuple[str, float, str]]) -> None:
    found = find_quantities(text)
    assert [(text[e.start : e.end], e.quantity.unit) for e in found] == [
        (surface, unit) for surface, _, unit in expected
    ]
    assert [e.quantity.value for e in found] == pytest.approx([value for _, value, _ in expected])


@pytest.mark.parametrize("text", NOT_QUANTITIES)
def test_a_number_that_names_something_is_no_quantity(text: str) -> None:
    assert find_quantities(text) == ()


def test_a_magnitude_multiplies_exactly() -> None:
    (found,) = find_quantities("$4.35 billion")
    assert found.quantity == Quantity(4_350_000_000.0, "USD")


def test_spans_that_belong_to_a_time_are_left_out() -> None:
    text = "In May 2019 the 12 firms grew 5%"
    assert len(find_quantities(text)) == 3
    found = find_quantities(text, exclude=[(3, 11)])
    assert [text[e.start : e.end] for e in found] == ["12", "5%"]


def test_many_numbers_take_linear_time() -> None:
    began = time.process_time()
    text = "5 mg, " * 5_000
    assert len(find_quantities(text, exclude=[(i, i + 1) for i in range(0, 60, 6)])) == 4_990
    assert time.process_time() - began < 5


PIECES = st.sampled_from(
    "5 10 3.5 1,234 .5 10^-3 1e5 two three million bn % percent mg nm $ € USD dollars - – to and "
    "or , between Section [12] COVID-19 -fold x ± ( ) 2019 half hundred k m".split(" ")
)
TEXTS = st.one_of(
    st.lists(st.tuples(PIECES, st.sampled_from(["", " "])), max_size=12).map(
        lambda parts: "".join(piece + space for piece, space in parts)
    ),
    st.text(max_size=60),
)
SPANS = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9)), max_size=4).map(
    lambda spans: [(start, start + length) for start, length in spans]
)


@settings(deadline=None)  # the first call compiles the grammar
@given(TEXTS, SPANS)
def test_quantities_are_sorted_disjoint_finite_pieces_of_the_text(
    text: str, exclude: list[tuple[int, int]]
) -> None:
    found = find_quantities(text, exclude=exclude)
    ends = [0, *(e.end for e in found)]
    for e, before in zip(found, ends, strict=False):
        assert before <= e.start < e.end <= len(text)
        assert all(b <= e.start or e.end <= a for a, b in exclude)
        assert isfinite(e.quantity.value)
        assert from_json(Quantity, to_json(e.quantity)) == e.quantity
    assert found == find_quantities(text, exclude=exclude)


@pytest.mark.parametrize("text", ["{}", "${} million", "{}%", "in {} years", "1.{}"])
def test_a_row_of_digits_longer_than_any_number_is_no_quantity(text: str) -> None:
    assert find_quantities(text.format("9" * 5_000)) == ()
    assert len(find_quantities(text.format("9" * 300))) == 1
