"""Which names a document uses and which of them are one; the rules behind NormNE."""
