"""What spaCy finds out for every token, found out once for each distinct one.

Most tokens of a document stand in it many times, and two parts of the pipeline look at a token by
itself: the layer that embeds it, and the rules that give its part of speech, its form and its
lemma. The results are those of the pipeline as it comes; what it has that is not known here stays.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.matcher import Matcher
    from spacy.pipeline import AttributeRuler, Lemmatizer
    from spacy.tokens import Doc
    from thinc.api import Model
    from thinc.types import Ragged

RULES: Final = ("attribute_ruler", "lemmatizer")
_EMBEDDING: Final = ("tok2vec", "ner")
_LAYERS: Final = ("extract_features", "list2ragged", "with_array", "with_array", "ragged2list")
_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)
_SHIFT: Final = np.uint64(29)
_BY_ITSELF: Final = frozenset({"ORTH", "TEXT", "LOWER", "IS_SPACE", "TAG", "DEP"})
_KNOWN_BY: Final[list[int | str]] = ["ORTH", "TAG", "DEP"]
_GIVEN: Final[list[int | str]] = ["POS", "MORPH", "LEMMA", "TAG", "DEP"]
_MOST: Final = 200_000  # tokens that are remembered

Rows = npt.NDArray[np.uint64]
Key = tuple[int, ...]


def embed_distinct_tokens(nlp: Language) -> None:
    """Let the networks of a pipeline embed each distinct token of a batch once."""
    for name, component in nlp.pipeline:
        if name not in _EMBEDDING:
            continue
        model: Model[Any, Any] = component.model  # type: ignore[attr-defined]
        for node in model.walk():
            if tuple(layer.name.partition("(")[0] for layer in node.layers) == _LAYERS:
                node.layers[2:4] = [_for_distinct_rows(*node.layers[2:4])]


def _for_distinct_rows(first: Model[Any, Any], second: Model[Any, Any]) -> Model[Any, Any]:
    from thinc.api import Model

    return Model("distinct_rows", _forward, layers=[first, second])


def _forward(
    model: Model[Any, Any], tokens: Ragged, is_train: bool
) -> tuple[Ragged, Callable[[Any], Any]]:
    from thinc.types import Ragged

    rows: Any = tokens.dataXd
    found = None if is_train else _distinct(rows)
    kept = rows if found is None else rows[found[0]]
    for layer in model.layers:
        kept = layer.predict(kept)
    return Ragged(kept if found is None else kept[found[1]], tokens.lengths), _no_training


def _no_training(_gradient: Any) -> Any:
    raise NotImplementedError("this pipeline is not trained")


def _distinct(rows: Rows) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]] | None:
    """Return where each distinct row stands first, and for each row which of these it equals.

    Rows are told apart by a number made of them; None where two rows share one.
    """
    numbers = np.zeros(len(rows), np.uint64)
    for column in rows.T:
        numbers = (numbers ^ column) * _MULTIPLIER
        numbers ^= numbers >> _SHIFT
    _, first, which = np.unique(numbers, return_index=True, return_inverse=True)
    return (first, which) if np.array_equal(rows[first][which], rows) else None


class TokenForms:
    """Gives tokens the attributes that the attribute ruler and the lemmatizer give them.

    What they say depends on a token, its tag and its dependency, but for a few rules that look at
    the token beside it as well: a text to which such a rule applies is left to the components.
    """

    instead_of = RULES

    def __init__(self, ruler: AttributeRuler, lemmatizer: Lemmatizer) -> None:
        from spacy.matcher import Matcher
        from spacy.pipeline import AttributeRuler

        self._ruler = ruler
        self._lemmatizer = _in_order(lemmatizer)
        self._alone = AttributeRuler(ruler.vocab)
        self._firsts, self._seconds = Matcher(ruler.vocab), Matcher(ruler.vocab)
        rules: Any = ruler.patterns
        for number, rule in enumerate(rules):
            pairs = [pattern for pattern in rule["patterns"] if len(pattern) > 1]
            if not pairs:
                self._alone.add_patterns([rule])
            for n, (first, second) in enumerate(pairs):
                self._firsts.add(f"{number} {n}", [[first]])
                self._seconds.add(f"{number} {n}", [[second]])
        self._known: dict[Key, Key] = {}
        self._begins: dict[Key, frozenset[int]] = {}  # rules for two tokens, by their first
        self._ends: dict[Key, frozenset[int]] = {}  # and by their second

    @classmethod
    def of(cls, nlp: Language) -> TokenForms | None:
        """Return the forms that a pipeline gives; None where its components are others."""
        if not all(name in nlp.pipe_names for name in RULES):
            return None
        ruler: Any
        lemmatizer: Any
        ruler, lemmatizer = (nlp.get_pipe(name) for name in RULES)
        known = lemmatizer.mode == "rule" and all(_simple(r["patterns"]) for r in ruler.patterns)
        return cls(ruler, lemmatizer) if known else None

    def give(self, docs: Sequence[Doc]) -> None:
        """Give the tokens of texts, which are tagged and parsed, their attributes."""
        if len(self._known) > _MOST:
            for memory in (self._known, self._begins, self._ends):
                memory.clear()
        keys = [list(map(tuple, doc.to_array(_KNOWN_BY).tolist())) for doc in docs]
        self._learn({key: None for own in keys for key in own if key not in self._known})
        for doc, own in zip(docs, keys, strict=True):
            if self._paired(own):
                self._lemmatizer(self._ruler(doc))
            elif own:
                _set(doc, _GIVEN, np.array([self._known[key] for key in own], np.uint64))

    def _paired(self, keys: Sequence[Key]) -> bool:
        for n, key in enumerate(keys[:-1]):
            begun = self._begins.get(key)
            if begun is not None and begun & self._ends.get(keys[n + 1], frozenset()):
                return True
        return False

    def _learn(self, keys: Iterable[Key]) -> None:
        from spacy.tokens import Doc

        rows = np.array(list(keys), np.uint64)
        if not len(rows):
            return
        doc = Doc(self._ruler.vocab, words=rows[:, 0].tolist())
        _set(doc, _KNOWN_BY[1:], rows[:, 1:])
        for matcher, memory in ((self._firsts, self._begins), (self._seconds, self._ends)):
            _note(matcher, doc, rows, memory)
        self._lemmatizer(self._alone(doc))
        made = doc.to_array(_GIVEN).tolist()
        self._known.update(zip(map(tuple, rows.tolist()), map(tuple, made), strict=True))


def _set(doc: Any, attributes: list[int | str], values: Rows) -> None:
    doc.from_array(attributes, values)


def _simple(patterns: Sequence[Sequence[dict[str, Any]]]) -> bool:
    """Tell whether patterns are of one token, or all of two, and look at what keys hold."""
    sizes = {len(pattern) for pattern in patterns}
    return sizes in ({1}, {2}) and all(
        _BY_ITSELF.issuperset(token) for pattern in patterns for token in pattern
    )


def _in_order(lemmatizer: Lemmatizer) -> Lemmatizer:
    """Let it find words by their order; it has lists, and looks through all of one for a word."""
    words = lemmatizer.lookups.get_table("lemma_index")
    for part_of_speech, listed in list(words.items()):
        if type(listed) is list:
            words.set(part_of_speech, _Ordered(sorted(listed)))
    return lemmatizer


class _Ordered(list[str]):
    """Words in their order."""

    def __contains__(self, word: object) -> bool:
        if not isinstance(word, str):
            return False
        at = bisect_left(self, word)
        return at < len(self) and self[at] == word


def _note(matcher: Matcher, doc: Doc, rows: Rows, memory: dict[Key, frozenset[int]]) -> None:
    """Note which rules each of some tokens meets."""
    if not len(matcher):
        return
    for rule, start, _ in matcher(doc, allow_missing=True):
        key = tuple(rows[start].tolist())
        memory[key] = memory.get(key, frozenset()) | {rule}
