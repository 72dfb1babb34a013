"""Python looks for cycles rarely while documents are read, and as ever afterwards."""

from __future__ import annotations

import gc

from abstrag.memory import collector_paused, collector_relaxed, relax_collector


def test_the_usual_comes_back_when_the_last_one_is_done() -> None:
    usual = gc.get_threshold()
    first, second = collector_relaxed(), collector_relaxed()
    first.__enter__()
    second.__enter__()
    assert gc.get_threshold()[0] > usual[0]
    first.__exit__(None, None, None)
    assert gc.get_threshold()[0] > usual[0]
    second.__exit__(None, None, None)
    assert gc.get_threshold() == usual


def test_a_worker_does_not_look_for_cycles_after_each_document() -> None:
    usual = gc.get_threshold()
    try:
        relax_collector()
        relaxed = gc.get_threshold()
        with collector_relaxed():
            assert gc.get_threshold() == relaxed
        assert gc.get_threshold() == relaxed
        assert relaxed[0] > usual[0]
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
