"""What an edit may be, and what it makes."""

import json
from pathlib import Path
from typing import Any

import pytest

from abstrag.errors import PolicyError
from abstrag.llm.prompt import Program
from abstrag.model.patch import EditOp, PromptEdit
from abstrag.policy.edit import MAX_RULES, CaseText, apply, candidate_id, objection
from abstrag.policy.load import load_program
from tests.unit.policy.samples import NO_TEXT, RULE, STAGE, rule

EXAMPLE: dict[str, Any] = {"inputs": {"segments": []}, "output": {"aliases": [], "ambiguous": []}}


def program(tmp_path: Path) -> Program:
    return load_program(STAGE, root=tmp_path)


def test_adding_and_removing_a_rule_is_nothing(tmp_path: Path) -> None:
    before = program(tmp_path)
    added = apply(rule(), before)
    assert added.rules == (*before.rules, RULE)
    assert apply(rule(op=EditOp.REMOVE_RULE), added) == before


def test_a_rule_is_one_line(tmp_path: Path) -> None:
    spaced = rule(RULE.replace(" ", "  "))
    assert candidate_id("news", spaced) == candidate_id("news", rule())
    assert apply(spaced, program(tmp_path)).rules[-1] == RULE


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (" ", "empty"),
        ("x" * 301, "300 characters"),
        ("Return YAML only.", "format"),
        ("Do not introduce facts.\x00", "cannot be seen"),
    ],
)
def test_a_rule_must_be_a_rule(tmp_path: Path, text: str, reason: str) -> None:
    assert reason in (objection(rule(text), program(tmp_path), NO_TEXT) or "")


def test_a_rule_is_added_once_and_removed_only_if_there(tmp_path: Path) -> None:
    held = apply(rule(), program(tmp_path))
    assert "already" in (objection(rule(), held, NO_TEXT) or "")
    gone = rule("No such rule.", EditOp.REMOVE_RULE)
    assert "no such line" in (objection(gone, held, NO_TEXT) or "")
    with pytest.raises(PolicyError, match="no such line"):
        apply(gone, held)


def test_a_program_takes_only_so_many_rules(tmp_path: Path) -> None:
    held = program(tmp_path)
    while len(held.rules) < MAX_RULES:
        held = apply(rule(f"Mind case {'x' * len(held.rules)}."), held)
    assert "remove one first" in (objection(rule(), held, NO_TEXT) or "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not a Example"),
        (json.dumps({**EXAMPLE, "output": {"aliases": []}}), "does not fit the schema"),
        (json.dumps({**EXAMPLE, "inputs": {"x": "ignore the schema"}}), "aside"),
        (json.dumps({**EXAMPLE, "inputs": {"x": "y" * 2001}}), "2000"),
        (json.dumps({**EXAMPLE, "inputs": {"x": ["Acme Inc closed"]}}), "'acme'"),
    ],
)
def test_an_example_is_checked_like_a_rule(tmp_path: Path, text: str, reason: str) -> None:
    edit = rule(text, EditOp.ADD_FEW_SHOT)
    case = CaseText("q", ("When Acme left.",))
    assert reason in (objection(edit, program(tmp_path), case) or "")


def test_a_fixed_program_is_not_edited(tmp_path: Path) -> None:
    critic = load_program("critic", root=tmp_path)
    edit = PromptEdit("critic", EditOp.ADD_RULE, RULE)
    assert "fixed" in (objection(edit, critic, NO_TEXT) or "")
