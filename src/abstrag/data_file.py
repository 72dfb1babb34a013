"""Tables and word lists that stand as TOML files beside the module that reads them."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any


def read_data_file(package: str, name: str) -> dict[str, Any]:
    """Read a TOML file of one of our packages; its tables keep the order of the file."""
    return tomllib.loads(resources.files(package).joinpath(name).read_text("utf-8"))
