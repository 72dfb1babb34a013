"""Turns trained weights into the folders of `abstrag.neural`; see `__main__.py`."""
