"""Edits of a program's rules and examples: whether one may be made, and what it makes."""

from __future__ import annotations

import codecs
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from typing import Any, Final, TypeVar

from abstrag.errors import InputError, PolicyError
from abstrag.files import read_data_file
from abstrag.llm.prompt import Example, Program
from abstrag.llm.shape import misfit
from abstrag.model.patch import EditOp, PromptEdit
from abstrag.model.record import from_json, record, to_data
from abstrag.policy.load import canonical
from abstrag.policy.location import MUTABLE

# The deny list: what a rule may not say, however it is spelled; its words are in `denied.toml`.
#
# A rule that refinement writes can carry words of a document, and a document may be written to
# get its words into the rules. So whatever would change the reply's shape, set other instructions
# aside, fix a verdict or favour something by rank is refused.
#
# Before it is matched, text is brought to one spelling: compatibility forms and accents dropped,
# look-alike letters and digits turned into the letters they stand for, punctuation inside words
# and spaces between single letters taken out, so that `i g n o r e`, `ig-nore` and `1gn0re` read
# `ignore`. The plainest offences are also looked for with every space gone, backwards and rotated
# by thirteen. What is not meant to be read at all (Base64, escapes, invisible characters) is
# refused.

_LOOK_ALIKE: Final = str.maketrans(  # Cyrillic, Greek and Armenian letters that look Latin
    "авгезіјкмнорстухѕԁһԛԝьαβγεηικνορτυχωϲսոօցѵ",
    "abrezijkmhopctyxsdhqwbabyenikvoptuxwcunogv",
)
_LEET: Final = str.maketrans("013457@$!|€", "oieastasiie")

_UNREADABLE: Final = re.compile(
    r"[A-Za-z0-9+/]{24,}={0,2}"  # Base64, hexadecimal
    r"|(?:\b[0-9a-f]{2}\b[\s:,]*){6,}"
    r"|(?:%[0-9a-f]{2}){2,}|\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|&#?\w{2,8};",
    re.IGNORECASE,
)
_MARKUP: Final = re.compile(r"https?:|www\.|\w@\w+\.\w|</?\s*\w+\s*>|```", re.IGNORECASE)


@cache
def _patterns() -> tuple[tuple[tuple[str, re.Pattern[str]], ...], re.Pattern[str]]:
    """Return the patterns of words, each with its reason, and that of letters run together."""
    lists = read_data_file("abstrag.policy", "denied.toml")
    stems = lists["stems"]
    compiled = tuple(
        (reason, re.compile(r"\w*(?: \w+){0,8}? ".join(rf"\b(?:{part})" for part in filled)))
        for reason, patterns in lists["patterns"].items()
        for parts in patterns
        for filled in [[part.format(**stems) for part in parts]]
    )
    return compiled, re.compile("|".join(lists["run_together"].split()))


def denied(text: str) -> str | None:
    """Say why a rule may not be taken; None when nothing speaks against it."""
    if _UNREADABLE.search(text):
        return "part of it is encoded"
    if any(unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs", "Cn") for char in text):
        return "it holds characters that cannot be seen"
    if _MARKUP.search(unicodedata.normalize("NFKC", text)):
        return "it holds a link or markup"
    compiled, run_together = _patterns()
    for spelling in _spellings(text):
        for reason, pattern in compiled:
            if pattern.search(spelling):
                return reason
        letters = "".join(char for char in spelling if "a" <= char <= "z")
        if any(map(run_together.search, (letters, letters[::-1], codecs.encode(letters, "rot13")))):
            return "it hides an instruction in its spelling"
    return None


def _spellings(text: str) -> Iterator[str]:
    """Yield the text as words: as written, and with digits read as letters."""
    folded = _folded(text)
    for read in (folded, folded.translate(_LEET)):
        words = _words(read)
        yield words
        yield re.sub(r"(?:(?<=^)|(?<= ))\w(?: \w)+(?= |$)", _joined, words)
        yield _words(re.sub(r"(?<=\w)[^\w\s]+(?=\w)|_", "", read))


def _folded(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text).casefold()
    bare = "".join(char for char in apart if not unicodedata.combining(char))
    return bare.translate(_LOOK_ALIKE)


def _words(text: str) -> str:
    # a point between digits stays, or 1.0 would be two numbers
    return " ".join(re.findall(r"\d+\.\d+|[^\W_]+", text))


def _joined(run: re.Match[str]) -> str:
    return run[0].replace(" ", "")


# Whether a rule carries away words of the case it comes from.
#
# A rule is for every document; what holds for one belongs in its map. Words of a query or a
# document would also let either of them write the rules. Three signs of a leak, each enough:
#
# - NGRAM = 4 words in a row that also stand in the case. Runs that the program itself has (its
# instruction, its rules) are anybody's and do not count. - A name or a figure: a word with a
# digit, or with a capital inside a sentence, of the rule that stands in the case too; or one that
# the case never writes otherwise, in whatever spelling. - At least QUERY_SHARE = 0.5 of the
# query's content words, in any order, from three such words on.

NGRAM: Final = 4
QUERY_SHARE: Final = 0.5
MIN_CONTENT_WORDS: Final = 3


@cache
def _function_words() -> frozenset[str]:
    return frozenset(read_data_file("abstrag.policy", "denied.toml")["function_words"].split())


@record
class CaseText:
    """The texts of a case: its query, and the passages shown to the proposer."""

    query: str
    passages: tuple[str, ...] = ()


def leak(text: str, case: CaseText, *, common: Iterable[str] = ()) -> str | None:
    """Return what a rule reveals of its case; None when nothing.

    Args:
        text: the rule, or an example as text.
        case: what it must not repeat.
        common: texts whose runs of words are free to use, such as the program's own.
    """
    sources = (case.query, *case.passages)
    own = _runs(_word_keys(text)) - {run for one in common for run in _runs(_word_keys(one))}
    if shared := own & {run for one in sources for run in _runs(_word_keys(one))}:
        return f"it repeats {' '.join(min(shared))!r} from its case"
    if telling := _names(text, sources) - {word for one in common for word in _word_keys(one)}:
        return f"it names {min(telling)!r} from its case"
    asked = {word for word in _word_keys(case.query) if word not in _function_words()}
    taken = asked & set(_word_keys(text))
    if len(asked) >= MIN_CONTENT_WORDS and len(taken) >= QUERY_SHARE * len(asked):
        return f"it takes {', '.join(sorted(taken))} from the query"
    return None


def _word_keys(text: str) -> list[str]:
    return [word.casefold() for word in _tokens(text)]


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[i : i + NGRAM]) for i in range(len(words) - NGRAM + 1)}


def _names(text: str, sources: Sequence[str]) -> set[str]:
    """Return the names and figures that a rule has in common with its case."""
    plain = {word for one in sources for word in _tokens(one) if word.islower()}
    names = {word for one in sources for word in _telling(one)} - plain
    everything = {word for one in sources for word in _word_keys(one)}
    return (_telling(text) & everything) | (names & set(_word_keys(text)))


def _telling(text: str) -> set[str]:
    """Return words with a digit, or with a capital where a sentence does not ask for one."""
    found: set[str] = set()
    for sentence in re.split(r"(?<=[.:;!?])\s+", text):
        for place, word in enumerate(_tokens(sentence)):
            capital = any(char.isupper() for char in (word if place else word[1:]))
            if capital or any(char.isdigit() for char in word):
                found.add(word.casefold())
    return found


def _tokens(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text))


MAX_RULE: Final = 300  # characters
MAX_EXAMPLE: Final = 2000
MAX_RULES: Final = 24  # of one program; more do not fit in front of a small model
MAX_EXAMPLES: Final = 6

SLOT: Final[Mapping[EditOp, str]] = {
    EditOp.ADD_RULE: "rules",
    EditOp.REMOVE_RULE: "rules",
    EditOp.ADD_FEW_SHOT: "few_shot",
    EditOp.REMOVE_FEW_SHOT: "few_shot",
}
_ADDS: Final = (EditOp.ADD_RULE, EditOp.ADD_FEW_SHOT)

T = TypeVar("T")
Mine = Callable[[str, str], bool]  # slot, line → whether a person wrote it


def candidate_id(family: str, edit: PromptEdit) -> str:
    """Return the id of an edit; equal edits have equal ids, whatever version they start from."""
    wish = [family, edit.program, edit.op.value, line(edit)]
    return sha256(canonical(wish)).hexdigest()[:16]


def line(edit: PromptEdit) -> str:
    """Return the rule or example in normalized spelling, for comparisons."""
    if SLOT[edit.op] == "rules":
        return " ".join(edit.text.split())
    try:
        return example_line(from_json(Example, edit.text))
    except InputError:
        return edit.text


def example_line(example: Example) -> str:
    """Return an example in one line."""
    return canonical(to_data(example)).decode()


def lines(program: Program, slot: str) -> tuple[str, ...]:
    """Return the rules or the examples of a program in normalized spelling."""
    if slot == "rules":
        return tuple(" ".join(rule.split()) for rule in program.rules)
    return tuple(example_line(example) for example in program.few_shot)


def objection(
    edit: PromptEdit,
    program: Program,
    case: CaseText,
    *,
    by_hand: Mine = lambda _slot, _line: False,
) -> str | None:
    """Say why an edit may not be made; None when nothing speaks against it.

    No words of the case may get into a rule, and lines that were written `by_hand` are not ours to
    remove.
    """
    if edit.program not in MUTABLE:
        return f"program {edit.program!r} is fixed, so that what judges is never what is judged"
    slot, wanted = SLOT[edit.op], line(edit)
    present = wanted in lines(program, slot)
    if edit.op in _ADDS:
        if present:
            return "it is there already"
        return _ill_formed(edit, program) or _unfit(edit, program, case)
    if not present:
        return "there is no such line to remove"
    return "a person wrote this line" if by_hand(slot, wanted) else None


def apply(edit: PromptEdit, program: Program) -> Program:
    """Return the program with the edit made."""
    slot, wanted = SLOT[edit.op], line(edit)
    if edit.op is EditOp.ADD_RULE:
        return replace(program, rules=(*program.rules, wanted))
    if edit.op is EditOp.ADD_FEW_SHOT:
        return replace(program, few_shot=(*program.few_shot, from_json(Example, edit.text)))
    had = lines(program, slot)
    if wanted not in had:
        raise PolicyError(f"program {program.stage!r} has no such line: {wanted[:80]!r}")
    if slot == "rules":
        return replace(program, rules=_without(program.rules, had, wanted))
    return replace(program, few_shot=_without(program.few_shot, had, wanted))


def _without(values: tuple[T, ...], had: tuple[str, ...], wanted: str) -> tuple[T, ...]:
    return tuple(value for value, one in zip(values, had, strict=True) if one != wanted)


def _ill_formed(edit: PromptEdit, program: Program) -> str | None:
    if edit.op is EditOp.ADD_RULE:
        if not edit.text.strip():
            return "it is empty"
        if len(edit.text) > MAX_RULE:
            return f"a rule has at most {MAX_RULE} characters"
        full = len(program.rules) >= MAX_RULES
        return f"there are {MAX_RULES} rules already; remove one first" if full else None
    if len(edit.text) > MAX_EXAMPLE:
        return f"an example has at most {MAX_EXAMPLE} characters"
    try:
        example = from_json(Example, edit.text)
    except InputError as error:
        return str(error)
    if wrong := misfit(example.output, program.output_schema):
        return f"its output does not fit the schema: {wrong}"
    full = len(program.few_shot) >= MAX_EXAMPLES
    return f"there are {MAX_EXAMPLES} examples already; remove one first" if full else None


def _unfit(edit: PromptEdit, program: Program, case: CaseText) -> str | None:
    texts = [edit.text] if SLOT[edit.op] == "rules" else list(_strings(json.loads(edit.text)))
    common = (program.instruction, *program.rules, canonical(program.output_schema).decode())
    for text in texts:
        if reason := denied(text) or leak(text, case, common=common):
            return reason
    return None


def _strings(data: Any) -> list[str]:
    if isinstance(data, str):
        return [data]
    if isinstance(data, dict):
        return [text for key, value in data.items() for text in (key, *_strings(value))]
    if isinstance(data, list):
        return [text for value in data for text in _strings(value)]
    return []
