"""What is said when a framework is not installed."""

from __future__ import annotations

from abstrag.errors import ResourceMissing


def missing(framework: str, extra: str, error: ImportError) -> ResourceMissing:
    """Return the error for a framework whose import failed."""
    return ResourceMissing(
        f"{framework} cannot be imported: {error}", hint=f"pip install 'abstrag[{extra}]'"
    )
