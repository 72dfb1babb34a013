"""A question by a name that the document only states is read with the name it goes on with."""

from abstrag.documents.load import load_bytes
from abstrag.indexing.pipeline import index
from abstrag.search.query.stated_names import StatedNames

TEXT = """# Regatta

The Lanford Veterans, better known as the Corks, raced in a borrowed boat.

The Corks sank within sight of the finish.{}
"""


def names(more: str = "") -> StatedNames:
    return StatedNames.of(index(load_bytes(TEXT.format(more).encode(), name="regatta.md")))


def test_the_name_in_use_stands_beside_the_one_that_is_only_stated() -> None:
    asked = names().glossed("Where did the Lanford Veterans sink?")
    assert asked == "Where did the Lanford Veterans (Corks) sink?"


def test_the_name_in_use_needs_no_other() -> None:
    assert names().glossed("Where did the Corks sink?") == "Where did the Corks sink?"


def test_a_name_that_the_document_uses_elsewhere_stands_alone() -> None:
    question = "Where did the Lanford Veterans sink?"
    assert names("\n\nThe Lanford Veterans swam ashore.").glossed(question) == question
