from pathlib import Path

import pytest

from abstrag.errors import InputError
from abstrag_bench.case import Dataset, SplitPart, part_of
from abstrag_bench.datasets.load import load_dataset
from abstrag_bench.tuning import Trial, candidates, freeze, read_frozen, refuse_tuned, select, tune
from tests.unit.bench.makers import make_dataset, write_plain


def trial(suff: float, ndcg: float, cost: float | None = None) -> Trial:
    return Trial({}, suff, ndcg, cost)


def test_the_hierarchy_decides_and_near_ties_go_to_the_next_level() -> None:
    assert select([trial(0.80, 0.5), trial(0.70, 0.9)]) == 0
    assert select([trial(0.800, 0.5), trial(0.799, 0.9)]) == 1
    assert select([trial(0.8, 0.5, 0.9), trial(0.8, 0.501, 0.1)]) == 1
    assert select([trial(0.8, 0.5), trial(0.8, 0.5)]) == 0  # its own values come first


def test_candidates_begin_with_the_systems_own_values_and_never_repeat() -> None:
    grid = candidates({"a": (1.0, 2.0), "b": (1.0, 2.0)}, 4, seed=1)
    assert grid[0] == {}
    assert len({tuple(sorted(one.items())) for one in grid}) == 4
    assert grid == candidates({"a": (1.0, 2.0), "b": (1.0, 2.0)}, 4, seed=1)


def test_the_record_tells_everything_and_sees_no_report_document(tmp_path: Path) -> None:
    write_plain(tmp_path / "dev.jsonl", 30)
    dataset = load_dataset("plain", tmp_path, "dev:tune")
    frozen = tune(dataset, "bm25", trials=5, seed=2)
    assert len(frozen.trials) == 5
    assert set(frozen.ranges) == {"k1", "b"}
    assert frozen.stopped == "all trials done"
    assert frozen.with_gold == frozen.cases == 2 * len(frozen.documents)
    assert {part_of(name) for name in frozen.documents} == {SplitPart.TUNE}
    path = tmp_path / "frozen.json"
    freeze(frozen, path)
    assert read_frozen(path) == frozen
    assert frozen.spec.name == "bm25+tuned"


def test_the_search_stops_when_nothing_gets_better(tmp_path: Path) -> None:
    write_plain(tmp_path / "dev.jsonl", 5)
    frozen = tune(load_dataset("plain", tmp_path, "dev:tune"), "bm25", trials=20, patience=3)
    assert frozen.stopped == "no better trial in 3"
    assert len(frozen.trials) < 20


def test_frozen_values_are_not_evaluated_on_what_they_were_tuned_on(tmp_path: Path) -> None:
    write_plain(tmp_path / "dev.jsonl", 30)
    frozen = tune(load_dataset("plain", tmp_path, "dev:tune"), "bm25", trials=2)
    for split in ("dev", "dev:tune"):
        with pytest.raises(InputError, match="'bm25' was tuned on"):
            refuse_tuned([frozen], load_dataset("plain", tmp_path, split))
    refuse_tuned([frozen], load_dataset("plain", tmp_path, "dev:report"))
    refuse_tuned([frozen], Dataset("other", "dev", make_dataset().cases))


def test_a_tuning_record_is_not_overwritten(tmp_path: Path) -> None:
    frozen = tune(make_dataset(6), "bm25", trials=1)
    freeze(frozen, tmp_path / "f.json")
    with pytest.raises(InputError, match="frozen values stay as they are"):
        freeze(frozen, tmp_path / "f.json")


def test_a_system_without_numbers_is_not_tuned() -> None:
    with pytest.raises(InputError, match="'hyde' has no numbers to tune"):
        tune(make_dataset(6), "hyde")


def test_a_broken_tuning_record_is_named(tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text('{"system": "bm25"}', "utf-8")
    with pytest.raises(InputError, match=r"f\.json': not a Frozen"):
        read_frozen(tmp_path / "f.json")
    with pytest.raises(InputError, match="there is no tuning record"):
        read_frozen(tmp_path / "none.json")
