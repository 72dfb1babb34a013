"""UMLS Rich Release Format: names from MRCONSO, what is broader than what from MRREL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from abstrag.backgrounds.fact import BackgroundName, ClassMembership, Fact
from abstrag.backgrounds.lines import fault, lines

_LANGUAGES: Final = {  # the codes of UMLS, by ISO 639-1
    "cs": "CZE", "da": "DAN", "de": "GER", "el": "GRE", "en": "ENG", "es": "SPA", "et": "EST",
    "fi": "FIN", "fr": "FRE", "hu": "HUN", "it": "ITA", "ja": "JPN", "ko": "KOR", "lv": "LAV",
    "nl": "DUT", "no": "NOR", "pl": "POL", "pt": "POR", "ru": "RUS", "sv": "SWE", "tr": "TUR",
    "uk": "UKR", "zh": "CHI",
}  # fmt: skip
_CONSO: Final = (
    "CUI LAT TS LUI STT SUI ISPREF AUI SAUI SCUI SDUI SAB TTY CODE STR SRL SUPPRESS CVF".split()
)
_REL: Final = (
    "CUI1 AUI1 STYPE1 REL CUI2 AUI2 STYPE2 RELA RUI SRUI SAB SL RG DIR SUPPRESS CVF".split()
)
_UP: Final = frozenset({"PAR", "RB"})  # the second concept is the broader one
_DOWN: Final = frozenset({"CHD", "RN"})
_HIDDEN: Final = frozenset("OEY")


def read_names(path: Path, language: str) -> Iterator[Fact]:
    """Go through MRCONSO: what concepts are called in a language; suppressed names are left out."""
    wanted = _LANGUAGES.get(language, language.upper())
    for line, row in _rows(path, _CONSO):
        if row["LAT"] == wanted and row["SUPPRESS"] not in _HIDDEN:
            preferred = (row["TS"], row["STT"], row["ISPREF"]) == ("P", "PF", "Y")
            yield BackgroundName(_concept(row["CUI"]), row["STR"], preferred=preferred, line=line)


def read_relations(path: Path) -> Iterator[Fact]:
    """Go through MRREL: parents and broader concepts, but no parts of wholes.

    REL says what the second concept is to the first; RELA, where there is one, says it better.
    """
    for line, row in _rows(path, _REL):
        if row["SUPPRESS"] in _HIDDEN or row["CUI1"] == row["CUI2"]:
            continue
        first, second = _concept(row["CUI1"]), _concept(row["CUI2"])
        if row["RELA"] == "inverse_isa" or (row["REL"] in _UP and not row["RELA"]):
            yield ClassMembership(first, second, line=line)
        elif row["RELA"] == "isa" or (row["REL"] in _DOWN and not row["RELA"]):
            yield ClassMembership(second, first, line=line)


def _concept(cui: str) -> str:
    return f"umls:{cui}"


def _rows(path: Path, columns: list[str]) -> Iterator[tuple[int, dict[str, str]]]:
    needed = ("CUI", "STR") if columns is _CONSO else ("CUI1", "CUI2", "REL")
    for line, text in lines(path):
        bare = text.rstrip("\r\n")
        if not bare:
            continue
        fields = bare.split("|")
        if len(fields) != len(columns) + 1 or fields[-1]:
            at = min(len(fields), len(columns) + 1)
            what = f"{len(fields) - 1} fields where {len(columns)} belong, each closed by |"
            raise fault(path, line, at, what, hint="is the file whole, and of the RRF release?")
        row = dict(zip(columns, fields, strict=False))
        for column in needed:
            if not row[column].strip():
                at = columns.index(column) + 1
                raise fault(path, line, at, f"{column} is empty", hint="is the file whole?")
        yield line, row
