"""spaCy's entities, with all tokens scored at once.

Its recognizer goes from token to token and scores what may come next: that a name begins, goes on,
ends, or none of it. Outside a name that depends on the token alone, so all tokens are scored in one
product of matrices, and one by one only where a name is open. Networks, rules and result are those
of the component; its own loop takes a lock of the interpreter 65 times for each token, which is
most of its time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

RECOGNIZER: Final = "ner"
_FEATURES: Final = 3  # of a state: the token, the first token of an open name, the token before
_NEVER: Final = np.float32(-np.inf)

Floats = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]
Name = tuple[int, int, str]  # first token, the one behind the last, label


class EntityMoves:
    """Finds the entities of texts that are parsed already, as a pipeline's recognizer does."""

    instead_of = (RECOGNIZER,)

    def __init__(self, recognizer: Any) -> None:
        network = recognizer.model
        lower, upper = network.get_ref("lower"), network.get_ref("upper")
        self._ops = network.ops
        self._embed = network.get_ref("tok2vec").predict
        self._pieces: int = lower.get_dim("nP")
        self._lower: Floats = lower.get_param("W").reshape(-1, lower.get_dim("nI"))
        self._bias: Floats = lower.get_param("b").reshape(-1)
        self._missing: Floats = lower.get_param("pad").reshape(_FEATURES, -1)
        self._upper: Floats = upper.get_param("W")
        self._upper_bias: Floats = upper.get_param("b")
        moves = recognizer.moves
        names = [moves.get_class_name(i).partition("-") for i in range(moves.n_moves)]
        self._moves = [kind for kind, _, _ in names]
        self._labels = [label for _, _, label in names]
        kinds = np.array(self._moves)
        labelled = np.array([bool(label) for label in self._labels])
        self._begin: Flags = (kinds == "B") & labelled
        self._unit: Flags = (kinds == "U") & labelled
        self._closed: Flags = self._begin | self._unit | (kinds == "O")
        self._going_on = {
            label: [
                i
                for i, (kind, own) in enumerate(zip(kinds, self._labels, strict=True))
                if own == label and kind in ("I", "L")
            ]
            for label in self._labels
        }

    @classmethod
    def of(cls, nlp: Language) -> EntityMoves | None:
        """Return what a pipeline's recognizer does; None where it has none, or one of another kind.

        It has to be the last component, and to come after the parser: names end with sentences.
        """
        if RECOGNIZER not in nlp.pipe_names or nlp.pipe_names[-1] != RECOGNIZER:
            return None
        recognizer: Any = nlp.get_pipe(RECOGNIZER)
        network = recognizer.model
        known = (
            recognizer.cfg.get("beam_width") == 1
            and network.attrs.get("has_upper")
            and not network.attrs.get("unseen_classes")
            and network.get_ref("lower").get_dim("nF") == _FEATURES
            and not recognizer.postprocesses
        )
        return cls(recognizer) if known else None

    def give(self, docs: Sequence[Doc]) -> None:
        """Give texts without entities theirs."""
        from spacy.tokens import Span

        filled = [doc for doc in docs if len(doc)]
        if not filled:
            return
        rows = self._ops.gemm(self._embed(filled), self._lower, trans2=True)
        rows = rows.reshape(len(rows), _FEATURES, -1)
        at = 0
        for doc in filled:
            own = rows[at : at + len(doc)]
            at += len(doc)
            found = [
                Span(doc, first, last, label=label) for first, last, label in self._names(doc, own)
            ]
            doc.set_ents(found, default="outside")

    def _names(self, doc: Any, rows: Floats) -> Iterator[Name]:
        spaces, opens = doc.to_array(["IS_SPACE", "SENT_START"]).T.astype(np.int64)
        ends = np.append(opens[1:] == 1, True)  # no name goes on behind such a token
        best = self._best_outside(rows, spaces != 0, ends)
        token = 0
        while token < len(rows):
            move, label = self._moves[best[token]], self._labels[best[token]]
            first = token
            token += 1
            if move == "B":
                while not self._ends_with(rows, first, token, label, ends):
                    token += 1
                token += 1
            if move != "O":
                yield first, token, label

    def _best_outside(self, rows: Floats, spaces: Flags, ends: Flags) -> list[int]:
        """Return the best move at each token if no name is open there."""
        _, start, before = self._missing
        scores = self._scores(rows[:, 0] + start + before, self._upper, self._upper_bias)
        scores[:, ~self._closed] = _NEVER
        scores[np.ix_(spaces, self._begin | self._unit)] = _NEVER
        scores[np.ix_(ends, self._begin)] = _NEVER
        found: list[int] = scores.argmax(axis=1).tolist()
        return found

    def _ends_with(self, rows: Floats, first: int, token: int, label: str, ends: Flags) -> bool:
        """Tell whether a name that began before a token ends with it."""
        if token == len(rows) - 1 or ends[token]:
            return True
        state = rows[token, 0] + rows[first, 1] + rows[token - 1, 2]
        moves = self._going_on[label]
        (scores,) = self._scores(state[None], self._upper[moves], self._upper_bias[moves])
        return bool(self._moves[moves[int(scores.argmax())]] == "L")

    def _scores(self, states: Floats, weights: Floats, bias: Floats) -> Floats:
        hidden = (states + self._bias).reshape(len(states), -1, self._pieces).max(axis=2)
        found: Floats = self._ops.gemm(hidden, weights, trans2=True) + bias
        return found
