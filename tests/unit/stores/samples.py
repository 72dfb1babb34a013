"""The sample index, under the name the tests of this project know it by."""

from abstrag.testing.sample_index import TEXT, sample_index

__all__ = ["TEXT", "sample_index"]
