"""SciFact: scientific claims against the sentences of one cited abstract.

A case is a unique pair of a claim and an abstract that has evidence for it; a claim without any
evidence makes a case of each abstract it cites. Ids are `CLAIM:DOC` and the sentence's index.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from abstrag.model.document import Genre
from abstrag_bench.baselines.system import Element, ElementKind, Pool
from abstrag_bench.case import Case, Dataset, union
from abstrag_bench.datasets.files import FilePlace, existing, read_lines

NAME: Final = "scifact"
_LABELS: Final = {"SUPPORT": "SUPPORTS", "CONTRADICT": "REFUTES"}
NO_EVIDENCE: Final = "NEI"


def load(data: Path, split: str) -> Dataset:
    """Read `claims_SPLIT.jsonl` and `corpus.jsonl`."""
    folder = data / NAME
    claims = existing(folder / f"claims_{split}.jsonl")
    abstracts = corpus(data)
    cases: dict[str, Case] = {}
    for number, claim in read_lines(claims):
        for case in _cases(FilePlace(claims, number), claim, abstracts, split):
            cases.setdefault(case.case_id, case)
    return Dataset(NAME, split, tuple(cases.values()))


def corpus(data: Path) -> dict[str, Pool]:
    """Return every abstract by its id."""
    path = existing(data / NAME / "corpus.jsonl")
    pools: dict[str, Pool] = {}
    for number, abstract in read_lines(path):
        place = FilePlace(path, number)
        name = str(place.field(abstract, "doc_id", int, str))
        elements = tuple(
            Element(str(i), text, ElementKind.SENTENCE)
            for i, text in enumerate(place.strings(abstract, "abstract"))
        )
        title = place.field(abstract, "title", str)
        pools[name] = Pool(name, title, elements, Genre.ABSTRACT_ONLY)
    return pools


def _cases(
    place: FilePlace, claim: Mapping[str, Any], corpus: Mapping[str, Pool], split: str
) -> Iterator[Case]:
    name = place.field(claim, "id", int, str)
    evidence = claim.get("evidence") or {}
    cited = {str(doc): () for doc in claim.get("cited_doc_ids", ())}
    for doc, rationales in (evidence or cited).items():
        if doc not in corpus:
            raise place.error(f"claim {name!r} names abstract {doc!r}, which the corpus lacks")
        pool = corpus[doc]
        sets = tuple(_rationale(place, pool, rationale) for rationale in rationales)
        labels = {str(rationale.get("label")) for rationale in rationales}
        label = _LABELS.get(labels.pop(), NO_EVIDENCE) if labels else NO_EVIDENCE
        yield Case(
            dataset=NAME,
            split=split,
            case_id=f"{name}:{doc}",
            document=pool,
            query=place.field(claim, "claim", str),
            gold=union(sets),
            gold_sets=sets,
            group=label,
            groups={"label": label},
            label=label,
        )


def _rationale(place: FilePlace, pool: Pool, rationale: Mapping[str, Any]) -> tuple[str, ...]:
    sentences = place.field(rationale, "sentences", list)
    for index in sentences:
        if not isinstance(index, int) or not 0 <= index < len(pool.elements):
            raise place.error(f"abstract {pool.id!r} has no sentence {index!r}")
    return tuple(str(index) for index in sentences)
