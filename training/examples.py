"""The prepared file in memory, and pairs of it as padded batches of one length class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

CLS, SEP, PAD = 101, 102, 0
RAGGED = ("passages", "passage_words", "titles", "queries", "query_words", "gold", "hard")
Ids = np.ndarray


@dataclass(frozen=True)
class View:
    """What of a document a pair shows besides the passage itself."""

    title: bool = False
    neighbours: int = 0  # tokens of the passage before and of the one after
    most: int = 320  # tokens of a pair


class Examples:
    """Queries, documents and passages as token ids, of one file or of several in a row."""

    def __init__(
        self, path: Path, fold: int | None = 0, *more: Path, parts: int | None = None
    ) -> None:
        self.fold = fold  # of the documents held out; None: all of them
        self.parts = parts  # how many folds there are, if fewer than were prepared
        self._file = dict(np.load(path))
        for other in more:
            self._file = _joined(self._file, dict(np.load(other)))
        self.skipped: frozenset[int] = frozenset()  # queries not to learn from
        self.names: list[str] = self._file["names"].tolist()
        self.documents = self._file["documents"]
        self._firsts = np.ascontiguousarray(self.documents[:, 1])
        self.asked = self._file["asked"]

    def _at(self, name: str, i: int) -> Ids:
        starts = self._file[f"{name}_at"]
        return self._file[f"{name}_flat"][starts[i] : starts[i + 1]]

    @property
    def tokens(self) -> Ids:
        """The tokens of all passages in a row."""
        return self._file["passages_flat"]

    @property
    def token_places(self) -> Ids:
        """Where in `tokens` each passage begins, and where the last one ends."""
        return self._file["passages_at"]

    def __len__(self) -> int:
        return len(self.asked)

    def document(self, query: int) -> int:
        """Return the number of a query's document."""
        return int(self.asked[query, 0])

    def label(self, query: int) -> int:
        """Return 0, 1, 2 for supports, refutes, not enough; −1 where the data has none."""
        return int(self.asked[query, 1])

    def source(self, query: int) -> str:
        """Return the name of a query's data set."""
        return self.names[self.documents[self.document(query), 0]]

    def fold_of(self, query: int) -> int:
        """Return the fold of the query's document."""
        fold = int(self.documents[self.document(query), 3])
        return fold % self.parts if self.parts else fold

    def is_dev(self, query: int) -> bool:
        """Tell whether the query's document is held out."""
        return self.fold is None or self.fold_of(query) == self.fold

    def source_of(self, passage: int) -> str:
        """Return the name of a passage's data set."""
        return self.names[self.documents[self.document_of(passage), 0]]

    def document_of(self, passage: int) -> int:
        """Return the number of a passage's document."""
        return int(np.searchsorted(self._firsts, passage, side="right")) - 1

    def held(self, without: Sequence[str] = ()) -> list[int]:
        """Return the queries to measure with: those held out, or all of the sets left out."""
        if without:
            return [q for q in range(len(self)) if self.source(q) in without]
        return [q for q in range(len(self)) if self.is_dev(q)]

    def pool(self, query: int) -> range:
        """Return the passages of a query's document."""
        _, first, end, _ = self.documents[self.document(query)]
        return range(first, end)

    def gold(self, query: int) -> list[int]:
        """Return the passages marked as evidence."""
        first = self.pool(query).start
        return [first + int(i) for i in self._at("gold", query)]

    def hard(self, query: int) -> list[int]:
        """Return the passages in the order of BM25, best first."""
        first = self.pool(query).start
        return [first + int(i) for i in self._at("hard", query)]

    def title(self, document: int) -> Ids:
        """Return the tokens of a document's title."""
        return self._at("titles", document)

    def query(self, query: int) -> Ids:
        """Return the tokens of a query."""
        return self._at("queries", query)

    def passage(self, passage: int) -> Ids:
        """Return the tokens of a passage."""
        return self._at("passages", passage)

    def query_words(self, query: int) -> Ids:
        """Return what `words.py` says of each token of a query."""
        return self._at("query_words", query)

    def passage_words(self, passage: int) -> Ids:
        """Return what `words.py` says of each token of a passage."""
        return self._at("passage_words", passage)

    def pair(self, query: int, passage: int, view: View) -> tuple[list[int], int]:
        """Return the ids of a pair, and where its second half begins."""
        asked = self.query(query).tolist()
        words = self.passage(passage).tolist()
        if view.title:
            words = [*self.title(self.document_of(passage))[:32].tolist(), SEP, *words]
        if view.neighbours:
            _, first, end, _ = self.documents[self.document_of(passage)]
            before = self.passage(passage - 1).tolist() if passage > first else []
            after = self.passage(passage + 1).tolist() if passage + 1 < end else []
            size = view.neighbours
            words = [*words, SEP, *before[-size:], SEP, *after[:size]]
        room = view.most - len(asked) - 3
        return [CLS, *asked, SEP, *words[:room], SEP], len(asked) + 2


def _joined(one: dict[str, np.ndarray], two: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return two files as one: the second's numbers go on where the first's end."""
    sources, passages = len(one["names"]), len(one["passages_at"]) - 1
    moved = {
        "names": two["names"],
        "documents": two["documents"] + np.array([sources, passages, passages, 0], np.int32),
        "asked": two["asked"] + np.array([len(one["documents"]), 0], np.int32),
    }
    both = {name: np.concatenate([one[name], moved[name]]) for name in moved}
    for name in RAGGED:
        flat, at = one[f"{name}_flat"], one[f"{name}_at"]
        both[f"{name}_flat"] = np.concatenate([flat, two[f"{name}_flat"]])
        both[f"{name}_at"] = np.concatenate([at, two[f"{name}_at"][1:] + len(flat)])
    return both


def batches(
    pairs: Sequence[tuple[list[int], int]], device: torch.device, tokens: int
) -> Iterator[tuple[list[int], Tensor, Tensor, Tensor]]:
    """Group sequences of like length; yield their places, ids, kinds and mask."""
    order = sorted(range(len(pairs)), key=lambda i: -len(pairs[i][0]))
    start = 0
    while start < len(order):
        longest = len(pairs[order[start]][0])
        longest += -longest % 8
        end = min(len(order), start + max(1, tokens // longest))
        rows = order[start:end]
        ids = np.zeros((len(rows), longest), np.int64)
        kinds = np.zeros_like(ids)
        mask = np.zeros(ids.shape, bool)
        for row, place in enumerate(rows):
            found, second = pairs[place]
            ids[row, : len(found)] = found
            kinds[row, second : len(found)] = 1
            mask[row, : len(found)] = True
        yield rows, *(torch.from_numpy(x).to(device, non_blocking=True) for x in (ids, kinds, mask))
        start = end


def applied(
    model: nn.Module,
    pairs: Sequence[tuple[list[int], int]],
    device: torch.device,
    tokens: int,
) -> Tensor:
    """Return what a model makes of each sequence, in their order."""
    parts, places = [], []
    for rows, *inputs in batches(pairs, device, tokens):
        parts.append(model(*inputs).float())
        places += rows
    return torch.cat(parts)[torch.tensor(np.argsort(places), device=device)]


def write_logits(path: Path, logits: Mapping[int, np.ndarray]) -> None:
    """Write what a judge said: queries `q`, sizes of their pools `n`, and all logits in `l`."""
    queries = sorted(logits)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        path,
        q=np.array(queries, np.int32),
        n=np.array([len(logits[query]) for query in queries], np.int32),
        l=np.concatenate([logits[query] for query in queries]).astype(np.float16),
    )


def read_logits(paths: Sequence[Path], examples: Examples) -> dict[int, np.ndarray]:
    """Return the logits of each query in some files, in the order of its pool."""
    found: dict[int, np.ndarray] = {}
    for path in paths:
        file = np.load(path)
        parts = np.split(file["l"].astype(np.float32), np.cumsum(file["n"])[:-1])
        for query, logits in zip(file["q"].tolist(), parts, strict=True):
            if query >= len(examples) or len(logits) != len(examples.pool(query)):
                raise SystemExit(f"{path} was written for other examples: see query {query}")
            found[query] = logits
    return found
