"""The audit log: chained, append-only, and honest about being tampered with."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abstrag.errors import PolicyError
from abstrag.policy.audit import AuditLog
from tests.unit.policy.samples import OTHER_RULE, RULE, opened, rule, unsynced, vote


def logged(root: Path, entries: int = 4) -> AuditLog:
    store = opened(root)
    for number in range(entries):
        store.audit(
            {"delta": {"n": number, "w": 0.1}}, accepted=True, reason="ok", case=f"c{number}"
        )
    return AuditLog(root, unsynced())


def lines(log: AuditLog) -> list[bytes]:
    return log.path.read_bytes().splitlines(keepends=True)


def test_entries_come_back_as_they_were_written(tmp_path: Path) -> None:
    store = opened(tmp_path)
    made = store.audit({"τ": [1, 2.5, None, "a"]}, accepted=False, reason="ΔSuff < 0", case="c1")
    assert store.entries() == (made,)
    assert store.entries()[0].payload == {"τ": [1, 2.5, None, "a"]}
    assert not made.accepted


def test_what_json_cannot_hold_does_not_break_the_chain(tmp_path: Path) -> None:
    store = opened(tmp_path)
    odd = {
        "gap": float("inf"),
        "said": "half \ud800",
        "pair": (1, 2),
        "deep": {"nan": float("nan")},
    }
    made = store.audit(odd, accepted=False, reason="over budget", case="c1")
    assert store.entries() == (made,)
    assert made.payload["gap"] is None
    assert made.payload["pair"] == [1, 2]
    vote(store, rule("A rule with half a \udc00 letter."), "c1")
    assert not store.entries()[-1].accepted


def test_each_entry_is_chained_to_the_one_before(tmp_path: Path) -> None:
    entries = logged(tmp_path).entries()
    assert [e.previous for e in entries] == ["", *(e.hash for e in entries[:-1])]
    assert len({e.hash for e in entries}) == 4


@pytest.mark.parametrize("number", range(4))
def test_a_changed_line_is_noticed(tmp_path: Path, number: int) -> None:
    log = logged(tmp_path)
    had = lines(log)
    data = json.loads(had[number])
    had[number] = json.dumps({**data, "reason": "better"}).encode() + b"\n"
    log.path.write_bytes(b"".join(had))
    with pytest.raises(PolicyError, match=f"line {number + 1}"):
        log.entries()


@pytest.mark.parametrize("number", range(4))
def test_a_missing_line_is_noticed(tmp_path: Path, number: int) -> None:
    log = logged(tmp_path)
    had = lines(log)
    log.path.write_bytes(b"".join(had[:number] + had[number + 1 :]))
    with pytest.raises(PolicyError):
        log.entries()


def test_a_log_that_was_emptied_or_written_anew_is_noticed(tmp_path: Path) -> None:
    log = logged(tmp_path / "a")
    log.path.unlink()
    with pytest.raises(PolicyError, match="had 4"):
        log.entries()
    other = logged(tmp_path / "b", entries=5)
    log.path.write_bytes(other.path.read_bytes().replace(b"c1", b"c9"))
    with pytest.raises(PolicyError):
        log.entries()
    changed = opened(tmp_path / "c")
    for number in range(4):
        changed.audit({}, accepted=True, reason="other", case=f"c{number}")
    log.path.write_bytes((tmp_path / "c" / "log.jsonl").read_bytes())
    with pytest.raises(PolicyError, match="anew"):
        log.entries()


def test_swapped_lines_are_noticed(tmp_path: Path) -> None:
    log = logged(tmp_path)
    had = lines(log)
    log.path.write_bytes(b"".join([had[0], had[2], had[1], had[3]]))
    with pytest.raises(PolicyError, match="before line 2"):
        log.entries()


def test_nothing_is_added_to_a_log_that_was_changed(tmp_path: Path) -> None:
    log = logged(tmp_path)
    log.path.write_bytes(b"".join(lines(log)[:-1]))
    before = log.path.read_bytes()
    with pytest.raises(PolicyError):
        vote(opened(tmp_path), rule(), "c1")
    assert log.path.read_bytes() == before


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_line_cut_off_by_a_crash_costs_nothing_that_was_acknowledged(
    tmp_path: Path, data: st.DataObject
) -> None:
    root = tmp_path / str(len(list(tmp_path.iterdir())))
    log = logged(root, 3)
    before = log.entries()
    vote(opened(root), rule(RULE), "c1")
    last = lines(log)[-1]
    kept = data.draw(st.integers(0, len(last) - 1))
    log.path.write_bytes(b"".join(lines(log)[:-1]) + last[:kept])
    log.head_path.write_bytes(  # the head is written after the line
        json.dumps({"count": 3, "hash": before[-1].hash}).encode()
    )
    assert log.entries() == before
    vote(opened(root), rule(OTHER_RULE), "c2")
    cases = [entry.case for entry in log.entries()]
    whole = kept == len(last) - 1  # only the end of the line was missing
    assert cases == ["c0", "c1", "c2", *(["c1"] if whole else []), "c2"]


def test_a_head_that_a_crash_left_behind_catches_up(tmp_path: Path) -> None:
    log = logged(tmp_path)
    entries = log.entries()
    log.head_path.write_text(json.dumps({"count": 3, "hash": entries[2].hash}))
    assert log.entries() == entries
    vote(opened(tmp_path), rule(), "c9")
    assert json.loads(log.head_path.read_text())["count"] == 5
