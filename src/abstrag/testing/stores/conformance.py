"""What every store promises, as tests: run them against a store of your own.

from abstrag.testing.stores.conformance import StoreConformance

class TestMyStore(StoreConformance):
@pytest.fixture
def opener(self, tmp_path):
return lambda: MyStore.open(tmp_path / "store")
"""

from __future__ import annotations

from abstrag.testing.stores.documents import DocumentRules
from abstrag.testing.stores.kept import KeptRules
from abstrag.testing.stores.models import ModelRules
from abstrag.testing.stores.places import PlaceRules
from abstrag.testing.stores.sharing import SharingRules
from abstrag.testing.stores.threads import ThreadRules
from abstrag.testing.stores.version import VersionRules


class StoreConformance(
    DocumentRules, KeptRules, ModelRules, PlaceRules, SharingRules, ThreadRules, VersionRules
):
    """Everything the protocol says, and a little of what it means."""
