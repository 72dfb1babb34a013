"""Small sources in every format, written here and true of nothing."""

import json
from pathlib import Path

from abstrag.backgrounds.build import build
from abstrag.backgrounds.compiled import CompiledBackground
from abstrag.backgrounds.source import BackgroundSource

TURTLE = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix d: <http://drugs.example/> .
d:1 a skos:Concept ; skos:prefLabel "Zorvatin"@en, "Zorvatina"@es ;
    skos:altLabel "zorvatinic acid"@en , "ZVA"@en ; skos:broader d:2 .
d:2 skos:prefLabel "calming agent"@en ; skos:narrower d:1 ; skos:broader d:3 .
d:3 skos:prefLabel "medicine" .
"""
RDF_XML = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    xmlns:skos="http://www.w3.org/2004/02/skos/core#">
  <skos:Concept rdf:about="http://drugs.example/1">
    <skos:prefLabel xml:lang="en">Zorvatin</skos:prefLabel>
    <skos:altLabel xml:lang="en">zorvatinic acid</skos:altLabel>
  </skos:Concept>
</rdf:RDF>
"""
MRCONSO = (
    "C01|ENG|P|L1|PF|S1|Y|A1||||MSH|MH|D1|Zorvatin|0|N||\n"
    "C01|ENG|S|L2|PF|S2|Y|A2||||MSH|ET|D1|zorvatinic acid|0|N||\n"
    "C01|SPA|P|L3|PF|S3|Y|A3||||MSH|MH|D1|Zorvatina|0|N||\n"
    "C01|ENG|S|L4|PF|S4|Y|A4||||MSH|ET|D1|obsolete zorvatin|0|O||\n"
    "C02|ENG|P|L5|PF|S5|Y|A5||||MSH|MH|D2|calming agent|0|N||\n"
)
MRREL = (
    "C01|A1|AUI|PAR|C02|A5|AUI|inverse_isa|R1||MSH|MSH|||N||\n"
    "C01|A1|AUI|PAR|C03|A6|AUI|part_of|R2||MSH|MSH|||N||\n"
    "C02|A5|AUI|CHD|C04|A7|AUI||R3||MSH|MSH|||N||\n"
)


def entity(
    id_: str, label: str, *aliases: str, kind: str | None = None, rank: str = "normal"
) -> str:
    """Return a line of a dump."""
    claim = {
        "mainsnak": {"datavalue": {"value": {"id": kind}}} if kind else {"snaktype": "novalue"},
        "rank": rank,
    }
    made = {
        "id": id_,
        "labels": {"en": {"language": "en", "value": label}},
        "aliases": {"en": [{"language": "en", "value": alias} for alias in aliases]},
        "claims": {"P31": [claim]},
    }
    return json.dumps(made)


def compiled(folder: Path, *sources: BackgroundSource) -> CompiledBackground:
    """Compile sources beside them."""
    build(sources, folder / "bg.db")
    return CompiledBackground.open(folder / "bg.db")


def table(
    folder: Path, text: str, name: str = "aliases.csv", distance: float | str | None = None
) -> BackgroundSource:
    """Write a table and take it for a source."""
    path = folder / name
    path.write_text(text, "utf-8")
    return BackgroundSource.of(path, distance)
