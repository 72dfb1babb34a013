"""Whatever call to the disk fails, nothing reported is lost and nothing is silently wrong."""

from pathlib import Path

import pytest

from tests.faults.sqlite_disk import Disk, Fault
from tests.faults.stories import CALLS, STORE, Story, injected, tell

STORIES = {"store": STORE, "calls log": CALLS}


@pytest.mark.parametrize("fault", list(Fault), ids=lambda fault: fault.name)
@pytest.mark.parametrize("name", list(STORIES))
def test_a_fault_at_any_call_loses_nothing_that_was_reported(
    name: str, fault: Fault, disk_folder: Path
) -> None:
    struck = injected(STORIES[name], disk_folder, fault)
    assert struck > 5, "the faults were injected"


def test_what_a_power_cut_takes_is_really_gone(disk_folder: Path) -> None:
    def one(store: object) -> None:
        STORE.steps[0](store)

    short = Story(STORE.open, [one], STORE.seen)
    whole = tell(short, disk_folder / "whole.db", Disk()).calls
    sizes = set()
    for at in (2, whole // 2, whole - 2):
        path = disk_folder / f"{at}.db"
        told = tell(short, path, Disk(Fault.CUT, at))
        sizes.add(sum(part.stat().st_size for part in disk_folder.glob(f"{at}.db*")))
        assert told.calls >= at
    assert len(sizes) > 1
