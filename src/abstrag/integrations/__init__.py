"""Retrievers and rerankers for other frameworks; each module needs the extra it is called by."""
