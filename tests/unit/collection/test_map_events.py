"""Events across documents: one type, the same people, times that agree; and all of it paid for."""

import pytest

from abstrag.collection.map import CollectionMap
from abstrag.collection.merge import Merge, MergeReason
from abstrag.config import DELTA_EVENT_SLOT, DELTA_EXPR_ALIAS, OMEGA
from abstrag.model.term import Family
from tests.unit.collection.things import collection

MARCH = "# A\n\nAcme Steel acquired Borden Mills in March 2021.\n"
DAY = "# B\n\nAcme Steel acquired Borden Mills on 12 March 2021.\n"
UNDATED = "# C\n\nAcme Steel acquired Borden Mills.\n"
OTHER = "# D\n\nAcme Steel acquired Borden Mills in May 2019.\n"
ANOTHER = "# E\n\nAcme Steel acquired Corby Works in March 2021.\n"

PARTICIPANTS = 2 * (OMEGA["expression"] + DELTA_EXPR_ALIAS)  # each is merged by its full name


def events(made: CollectionMap) -> list[Merge]:
    return [merge for merge in made.merges() if merge.family is Family.EVENT]


def test_one_event_told_twice_is_merged_and_pays_for_its_participants() -> None:
    (merge,) = events(collection(a=MARCH, b=DAY))
    assert merge.evidence is MergeReason.HAPPENING
    assert merge.name == "acquisition(acme steel, borden mills)"
    assert merge.cost == pytest.approx(OMEGA["event"] + PARTICIPANTS)
    assert {node.document for node in merge.members} == {"a", "b"}
    assert {cited.licence.reference for cited in merge.licences} == {"acquired"}


def test_a_telling_without_a_time_leaves_a_slot_to_be_assumed() -> None:
    (merge,) = events(collection(a=MARCH, c=UNDATED))
    assert merge.cost == pytest.approx(OMEGA["event"] + DELTA_EVENT_SLOT + PARTICIPANTS)


def test_different_times_are_different_events() -> None:
    made = collection(a=MARCH, d=OTHER)
    assert events(made) == []
    (refusal,) = [r for r in made.refusals() if r.reason == "the times differ"]
    assert [side.label for side in refusal.sides] == [
        "2019-05-01 to 2019-05-31",
        "2021-03-01 to 2021-03-31",
    ]


def test_a_telling_without_a_time_joins_neither_of_two_events() -> None:
    made = collection(a=MARCH, c=UNDATED, d=OTHER)
    assert events(made) == []


def test_a_long_time_that_fits_two_events_joins_neither() -> None:
    year = "# Y\n\nAcme Steel acquired Borden Mills in 2021.\n"
    may = "# M\n\nAcme Steel acquired Borden Mills in May 2021.\n"
    made = collection(a=MARCH, m=may, y=year)
    assert events(made) == []
    reasons = {refusal.reason for refusal in made.refusals()}
    assert {"the times differ", "the time fits several of them"} <= reasons


def test_other_participants_make_another_event() -> None:
    assert events(collection(a=MARCH, e=ANOTHER)) == []


def test_participants_that_are_not_merged_make_no_merge() -> None:
    made = collection(
        a="# A\n\nIn March 2021 Nokia sued Apple.\n", b="# B\n\nIn March 2021 Nokia sued Apple.\n"
    )
    assert events(made) == []


def test_one_name_and_a_long_time_fit_too_many_events() -> None:
    year = "Acme Steel expanded in 2021.\n"
    assert events(collection(a=f"# A\n\n{year}", b=f"# B\n\n{year}")) == []
    month = "Acme Steel expanded in May 2021.\n"
    assert len(events(collection(a=f"# A\n\n{month}", b=f"# B\n\n{month}"))) == 1


def test_kinds_of_things_make_no_event() -> None:
    text = "We used magnetic resonance imaging (MRI). The MRI showed a brain tumour (BT).\n"
    assert events(collection(a=f"# A\n\n{text}", b=f"# B\n\n{text}")) == []
