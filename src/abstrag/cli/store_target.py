"""What may stand where a store is named: a file, or the address of a PostgreSQL server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from abstrag.stores.postgres.address import is_address


class StoreTarget(click.Path):
    """A path, or an address left as the text it is: a `Path` would drop one of its slashes."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a `Path`, or the address that it is not."""
        return value if is_address(value) else super().convert(value, param, ctx)
