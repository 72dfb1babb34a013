"""All crafted files: families of hostile files, each in several sizes."""

from collections.abc import Iterator, Sequence

from tests.fuzz.crafted import (
    latex,
    mail,
    markup,
    more_files,
    more_pdfs,
    more_texts,
    packages,
    pdfs,
    tables,
    texts,
)
from tests.fuzz.crafted.family import Family
from tests.fuzz.targets import Item

MORE: tuple[Family, ...] = (
    *more_texts.FAMILIES,
    *more_files.FAMILIES,
    *more_pdfs.FAMILIES,
)
FAMILIES: tuple[Family, ...] = (
    *texts.FAMILIES,
    *markup.FAMILIES,
    *latex.FAMILIES,
    *pdfs.FAMILIES,
    *packages.FAMILIES,
    *tables.FAMILIES,
    *mail.FAMILIES,
    *MORE,
)


def crafted(families: Sequence[Family] = FAMILIES) -> Iterator[Item]:
    """Go through the crafted files of some families."""
    for family in families:
        for size in family.sizes:
            made = family.make(size)
            if isinstance(made, str):
                made = made.encode("utf-8", "surrogatepass")
            files = {f"crafted.{family.kind}": made} if isinstance(made, bytes) else made
            name = f"{family.name}-{size}.{family.kind}".replace(" ", "-")
            yield Item(name, family.kind, "index", files)
