from pathlib import Path

import pytest

from abstrag.errors import InputError
from abstrag_bench.datasets.scifact import load
from tests.unit.bench.makers import write_lines

CORPUS = [
    {"doc_id": 7, "title": "On mice", "abstract": ["Mice run.", "Mice sleep.", "Mice eat."]},
    {"doc_id": 8, "title": "On rats", "abstract": ["Rats run."]},
]
CLAIMS = [
    {
        "id": 1,
        "claim": "Mice rest.",
        "evidence": {
            "7": [{"sentences": [1], "label": "SUPPORT"}, {"sentences": [0, 1], "label": "SUPPORT"}]
        },
        "cited_doc_ids": [7, 8],
    },
    {"id": 2, "claim": "Rats fly.", "evidence": {}, "cited_doc_ids": [8, 8, 7]},
    {
        "id": 3,
        "claim": "Rats do not run.",
        "evidence": {"8": [{"sentences": [0], "label": "CONTRADICT"}]},
        "cited_doc_ids": [8],
    },
    {"id": 2, "claim": "Rats fly.", "evidence": {}, "cited_doc_ids": [8]},
]


def data(folder: Path, claims: list[dict[str, object]] = CLAIMS) -> Path:
    write_lines(folder / "scifact" / "corpus.jsonl", CORPUS)
    write_lines(folder / "scifact" / "claims_dev.jsonl", claims)
    return folder


def test_a_case_is_a_pair_with_evidence_or_a_cited_pair_of_a_claim_without(tmp_path: Path) -> None:
    cases = {case.case_id: case for case in load(data(tmp_path), "dev").cases}
    assert list(cases) == ["1:7", "2:8", "2:7", "3:8"]  # 1:8 is cited but has no evidence
    assert cases["1:7"].gold == ("1", "0")
    assert cases["1:7"].gold_sets == (("1",), ("0", "1"))
    assert [case.label for case in cases.values()] == ["SUPPORTS", "NEI", "NEI", "REFUTES"]
    assert cases["1:7"].document.ids == ("0", "1", "2")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"claims_train\.jsonl"):
        load(data(tmp_path), "train")


def test_a_torn_line_is_named_with_its_file(tmp_path: Path) -> None:
    folder = data(tmp_path)
    path = folder / "scifact" / "claims_dev.jsonl"
    path.write_text(path.read_text("utf-8")[:-30], "utf-8")
    with pytest.raises(InputError, match=r"claims_dev\.jsonl', line 4: not JSON"):
        load(folder, "dev")


def test_evidence_beyond_the_abstract_is_an_error(tmp_path: Path) -> None:
    claim = {**CLAIMS[2], "evidence": {"8": [{"sentences": [4], "label": "SUPPORT"}]}}
    with pytest.raises(InputError, match=r"line 1: abstract '8' has no sentence 4"):
        load(data(tmp_path, [claim]), "dev")


def test_an_abstract_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    claim = {"id": 5, "claim": "x", "evidence": {}, "cited_doc_ids": [99]}
    with pytest.raises(InputError, match="names abstract '99'"):
        load(data(tmp_path, [claim]), "dev")
