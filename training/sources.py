"""Every data set that is trained on, by the name it has here."""

from __future__ import annotations

from hashlib import sha256

FOLDS = 6

SOURCES = {  # name in the file → data set and split as `abstrag bench` knows them
    "scifact": ("scifact", "train"),
    "qasper": ("qasper", "train"),
    "contractnli": ("contractnli", "dev"),
    "tatqa": ("tatqa", "tune"),
    "fetaqa": ("fetaqa", "dev"),
    "xquad": ("packs", "xquad"),
    "feverous": ("packs", "feverous_sentences"),
    "covidqa": ("packs", "covidqa"),
    "hybridqa": ("packs", "hybridqa"),
    "cuad": ("packs", "cuad"),
    "check_covid": ("packs", "check_covid"),
    "fm2": ("packs", "fm2"),
    "friendsqa": ("packs", "friendsqa"),
    "clapnq": ("packs", "clapnq"),
    "qed": ("packs", "qed"),
    "expmrc": ("packs", "expmrc_squad"),
    "quotesum": ("packs", "quotesum"),
    "hotpotqa": ("packs", "hotpotqa"),
    "2wiki": ("packs", "2wiki"),
    "musique": ("packs", "musique"),
}


def fold_of(document: str) -> int:
    """Return the fold of a document: one of six, by a hash of its id."""
    digest = int.from_bytes(sha256(f"fold:{document}".encode()).digest()[:8], "big")
    return digest % FOLDS
