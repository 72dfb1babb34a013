"""A small store that every framework asks."""

from abstrag import AbstRAG
from abstrag.documents.load import load_bytes

QUERY = "Which shipyard did the Harbour Ferry Company acquire?"
BOUGHT = "This Tuesday HFC purchased Tarn Marine, a shipyard in the north."
FERRIES = f"""
The Harbour Ferry Company (HFC) runs six boats between the islands.
{BOUGHT}
All ninety workers will stay, and so will the old crane.
"""
WEATHER = """
The week began with rain in all of the valleys.
Farmers along the river hope for a dry month.
"""


def ferry_store(name: str = ":memory:") -> AbstRAG:
    """Return an open store with two documents, `ferries` and `weather`."""
    rag = AbstRAG(name)
    for each, text in (("ferries", FERRIES), ("weather", WEATHER)):
        rag.index(load_bytes(text.encode(), name=f"{each}.md"))
    return rag
