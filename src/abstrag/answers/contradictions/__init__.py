"""Rules that see where evidence contradicts a claim, without a model.

`find.differences` is the way in; each other module knows one kind of difference.
"""
