"""Which id a source gets, and which document a name means."""

import pytest

from abstrag.errors import UnknownDocument
from abstrag.stores.database import candidates, choose, complete


def test_the_suffix_depends_on_the_source_alone() -> None:
    ends = [name.removeprefix("trip") for name in candidates("trip", "/a")]
    assert candidates("visit", "/a") == tuple(f"visit{end}" for end in ends)
    assert candidates("trip", "/a")[1] != candidates("trip", "/b")[1]


def test_a_short_suffix_that_is_taken_too_grows() -> None:
    wanted = candidates("trip", "/a")
    taken = dict.fromkeys(wanted[:2], "/elsewhere")
    assert choose(wanted, taken, source_path="/a") == wanted[2]


def test_an_empty_name_means_no_document() -> None:
    with pytest.raises(UnknownDocument) as caught:
        complete("", ["trip"])
    assert caught.value.hint == "the store holds 'trip'"


def test_a_long_list_of_fitting_names_is_cut() -> None:
    with pytest.raises(UnknownDocument) as caught:
        complete("t", ["t1", "t2", "t3", "t4", "t5"])
    assert caught.value.hint == "did you mean 't1' or 't2' or 't3' or 2 more?"


def test_what_a_store_holds_is_listed_with_an_and() -> None:
    with pytest.raises(UnknownDocument) as caught:
        complete("zebra", ["t1", "t2", "t3", "t4", "t5"])
    assert caught.value.hint == "the store holds 't1', 't2', 't3' and 2 more"
