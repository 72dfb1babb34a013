"""Names that tell what they name: "Widget Ltd." a company, "ISO 27001" one of several ISOs."""

from __future__ import annotations

import re
from typing import Final

from abstrag.language.names import house_form, nameable

# Of the forms that a name may end in, those that nothing but a company has.
_COMPANY: Final = frozenset("company corp gmbh inc kgaa llc ltd pbc plc pty".split())
_NAME: Final = r"[A-Z][\w&/.]*(?:[ -][A-Z][\w&/.]*){0,3}"
_VARIANT = re.compile(
    rf"(?:Greater|GREATER|Mainland|MAINLAND) (?P<place>{_NAME})"
    rf"|(?P<series>{_NAME})[ -][Vv]?\d[\d.:/-]*[A-Za-z]?"
)


def names_company(name: str) -> bool:
    """True when the form at the end of a name says that it is a company's."""
    return not _COMPANY.isdisjoint(house_form(name)[1].split())


def variant_of(name: str) -> str | None:
    """Return the name of which another is one: "Llama" of "Llama 2", "China" of "Greater China"."""
    found = _VARIANT.fullmatch(name)
    base = found and (found["place"] or found["series"])
    return base if base and nameable(base) else None
