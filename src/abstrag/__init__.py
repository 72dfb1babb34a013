"""AbstRAG: find the evidence in a document, quote it exactly, and show why it is evidence."""

__version__ = "0.1.0"
