"""What was reported as written to a plain file is there, whatever call to the disk fails."""

from pathlib import Path

import pytest

from tests.faults.plain_stories import EDITS, POLICY, QUARANTINE, UPLOADS, injected
from tests.faults.sqlite_disk import Fault

STORIES = {"policy": POLICY, "edits": EDITS, "quarantine": QUARANTINE, "uploads": UPLOADS}
FAULTS = [fault for fault in Fault if fault is not Fault.READ]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
@pytest.mark.parametrize("name", list(STORIES))
def test_a_fault_at_any_call_loses_nothing_that_was_reported(
    name: str, fault: Fault, disk_folder: Path
) -> None:
    assert injected(STORIES[name], disk_folder, fault) > 5, "the faults were injected"
