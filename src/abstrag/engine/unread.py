"""What is said of texts in a language that is not read: they are found by words and vectors."""

from __future__ import annotations

from abstrag.language.detect import ENGLISH, language_name, language_of

_ALONE = "it is searched by words and vectors alone"


def unread_notice(query: str, document_language: str = ENGLISH) -> str:
    """Say that a query or the document it is put to is in another language; "" for English."""
    asked = language_of(query)
    if document_language != ENGLISH:
        return f"the document is in {language_name(document_language)}, which is not read: {_ALONE}"
    if asked != ENGLISH:
        return f"the query is in {language_name(asked)}, which is not read: {_ALONE}"
    return ""
