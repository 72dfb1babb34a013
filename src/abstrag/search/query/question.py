"""What a question asks besides its words: instructions, where to look, what answers it, grammar."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from abstrag.documents.header import cover_lines, read_cover
from abstrag.errors import InputError
from abstrag.language.quantities import NUMBER_WORDS, word_value
from abstrag.language.words import NOUNS, Words
from abstrag.lexicon.events import idiom_at, names_event
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.document import BlockKind, Document
from abstrag.model.query import AnswerForm, Literal
from abstrag.search.query.vocabulary import is_light

# What a request says about the answer instead of about what it looks for.
#
# "Assume that you are an analyst. Answer in USD millions by relying on the balance sheet: what is
# …?" holds one question and two instructions. Sentences and clauses that instruct are taken out of
# the text, so that no word of them becomes a condition on evidence.

_BREAK: Final = re.compile(r"(?<=[.?!:;])\s+(?=\S)")
_ASKS: Final = r"(?:whether|if|how|what|which|who|when|where|why)\b"
_ANSWER: Final = r"(?:(?:a|an|your|the|this|each)\s+)?(?:final\s+)?(?:answers?|responses?|replies)"
_INSTRUCTION: Final = re.compile(
    rf"""^(?:also\s+|and\s+|then\s+)?(?:please\s+)?(?:
      (?:answer|respond|reply)\b(?!\s+(?:to\s+)?(?:me\s+)?{_ASKS})
    | (?:give|provide|write|express|report|state|present|format|return|keep|limit|base|justify|
        round|calculate)\s+(?:me\s+|us\s+)?{_ANSWER}\b
    | round\s+(?:to|off|up|down|it)\b
    | (?:assume|imagine|pretend|suppose)\s+(?:that\s+)?you(?:'re|\s+(?:are|were)|r\s+role)\b
    | (?:you\s+are|act\s+as|acting\s+as)\s+(?:an?|the)\b
    | (?:only\s+)?(?:use|rely\s+on|refer\s+to|look\s+at|consult|consider)\s+(?:only|just|solely|
        exclusively|primarily|mainly)\b
    | (?:only|just|solely|exclusively|primarily|mainly)\s+(?:use|rely\s+on|refer\s+to|look\s+at)\b
    | (?:do\s+not|don't|never)\s+(?:use|guess|make\s+up|invent|include|explain|add)\b
    | (?:we|i)\s+(?:need|want|would\s+like)\s+to\s+(?:calculate|compute|determine|derive)\s+an?\s+
        (?:[\w-]+\s+)?(?:metric|figure|number|ratio|value)\b
    | (?:show|explain)\s+your\s+(?:work|working|reasoning|steps|answer)\b
    | (?:think|reason|work)\s+step[\s-]by[\s-]step\b
    | (?:be\s+(?:brief|concise|short|specific)|cite\s+(?:your\s+)?(?:sources?|evidence|the))\b
    | if\s+(?:it|this|that|so|the\s+(?:answer|information|document|text)|no\s+(?:answer|
        information)|you|there|not)\b[^?]*?\b(?:not|no|n't|cannot|can't|unable|missing|unknown)?\b[^?]*?,?\s*
        (?:then\s+)?(?:please\s+)?(?:say|state|answer|respond|reply|write|output|return|tell)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_MONEY: Final = r"(?:USD|US\$|EUR|GBP|JPY|CHF|\$|€|£|(?:US\s+)?dollars?|euros?|pounds?|yen)"
_SCALE: Final = r"(?:thousands?|millions?|billions?|trillions?)"
_UNIT: Final = (
    rf"(?:{_MONEY}(?:\s+{_SCALE})?|{_SCALE}(?:\s+(?:of\s+)?{_MONEY})?|percent(?:age)?(?:\s+points?)?"
    r"|%|basis\s+points?)"
)
_UNIT_SAID: Final = re.compile(rf"\bin\s+(?:terms\s+of\s+)?(?P<unit>{_UNIT})(?!\w)", re.I)
_DECIMALS: Final = re.compile(
    rf"\b(?:to|with)\s+(?:the\s+nearest\s+)?(?P<n>\d|{NUMBER_WORDS})\s+(?:decimals?|digits?)\b",
    re.I,
)
_LENGTH: Final = re.compile(
    rf"\b(?:in|with|using)\s+(?:only\s+|just\s+|at\s+most\s+)?(?P<length>(?:(?:an?|one|\d+|"
    rf"{NUMBER_WORDS}|a\s+single|a\s+few)\s+(?:words?|sentences?|paragraphs?|lines?|numbers?|bullet\s"
    r"points?)|yes\s+or\s+no))\b",
    re.I,
)
_READER: Final = re.compile(
    r"\b(?:as\s+if\s+you\s+(?:are|were)|(?:assume|imagine|pretend|suppose)\s+(?:that\s+)?you\s+(?:are|"
    r"were)|you\s+are|act(?:ing)?\s+as|from\s+the\s+(?:perspective|point\s+of\s+view)\s+of)\s+"
    r"(?P<reader>(?:an?|the)\s+[\w -]+?)(?=[.,:;?!]|$|\s+(?:and|who|by|using|based)\b)",
    re.I,
)
_MISSING: Final = re.compile(r"^(?:and\s+|also\s+)?if\b.*\b(?:not|no|n't|cannot|missing)\b", re.I)
_SOURCE: Final = re.compile(
    r"""\b(?:use|using|rely(?:ing)?\s+on|based\s+on|refer(?:ring)?\s+to|look(?:ing)?\s+at|consult
      |according\s+to|base\s+your\s+answer\s+on|information\s+(?:in|from)
      |(?:shown|given|found|provided|stated|reported|contained|outlined)\s+
       (?:(?:primarily|only|mainly)\s+)?(?:in|by|on|within))\s+
    (?:only\s+|primarily\s+|mainly\s+|solely\s+)?(?:the|its|their)\s+
    (?!(?:details?|information|data|figures)\b)
    (?P<source>[\w&'\ -]{3,60}?)(?=\s*(?:[.,:;?!)]|$|\band\b|\bas\b|\bfor\b))""",
    re.IGNORECASE | re.VERBOSE,
)
_VAGUE: Final = re.compile(
    r"\b(?:question|details?|information|data|facts?|context|passages?|text|documents?|papers?|"
    r"reports?|filings?|manual|policy|article|study|authors?|above|below|following)\b",
    re.I,
)
# Clauses of a question that instruct; what they hold is read before they are cut.
_CLAUSES: Final = re.compile(
    rf"""^(?:in\s+agreement\s+with|based\s+on|by\s+using|using|relying\s+on|drawing\s+on)\s+(?:only\s+)?
      (?:the\s+)?(?:details?|information|data|figures)\b[^,:?]*[,:]\s*
    | \s*(?:
      \(\s*(?:answer\s+)?in\s+{_UNIT}\s*\)
    | ,?\s+in\s+{_UNIT}(?=\s*[?.!]?\s*$)
    | ,?\s+as\s+if\s+you\s+(?:are|were)\s+[^,:;?.]+(?=[,:;?.]|$)
    | ,?\s+(?:by\s+)?(?:only\s+|primarily\s+|mainly\s+|solely\s+)?(?:relying\s+on|using)\s+
        (?:only\s+|primarily\s+)?(?:the\s+)?(?:details?|information|data|figures|numbers)\s+
        (?:that\s+(?:is|are)\s+)?(?:shown|given|found|provided|stated|reported)\s+(?:in|by|on)\s+[^,:;?.]+(?=[,:;?.]|$)
    | ,?\s+according\s+to\s+(?:the|this|its)\s+[\w&'\ -]{{3,60}}?(?=[,:;?.]|$)
    | ,?\s+(?:(?:as|that\s+(?:is|are)|which\s+(?:is|are))\s+)?(?:mentioned|stated|described|
        reported|presented|discussed)\s+in\s+(?:the|this)\s+(?:[\w-]+\s+)?(?:papers?|documents?|reports?|
        articles?|studies|study|texts?|filings?|manual|10-?K|10-?Q)\b(?:\s+report)?
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_COUNT: Final = re.compile(
    rf"^(?:what\s+(?:are|were)|name|list|give|which)\s+(?:the\s+)?(?:(?:top|first|main)\s+)?"
    rf"(?P<n>{NUMBER_WORDS}|\d{{1,2}})\s+(?=[a-z])(?!(?:of|percent|years?|months?|days?)\b)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class QuestionRequest:
    """The question of a request, what it says about the answer, and the sources it names."""

    question: str
    form: AnswerForm | None
    sources: tuple[str, ...]


def read_request(text: str) -> QuestionRequest:
    """Take the instructions out of a request; one that is nothing else stays as it is."""
    parts = _BREAK.split(text)
    orders = [bool(_INSTRUCTION.match(part)) and not part.endswith("?") for part in parts]
    if all(orders):
        return QuestionRequest(text, None, ())
    asked = " ".join(part for part, order in zip(parts, orders, strict=True) if not order)
    said = [part for part, order in zip(parts, orders, strict=True) if order]
    said += [found.group() for found in _CLAUSES.finditer(asked)]
    question = _CLAUSES.sub("", asked).strip()
    if not re.search(r"\w", question):
        return QuestionRequest(text, None, ())
    form, sources = _form(said, question), tuple(dict.fromkeys(_sources(said)))
    return QuestionRequest(question, form, sources)


def _form(said: list[str], question: str) -> AnswerForm | None:
    whole = " ".join(said)
    unit, length, reader = (p.search(whole) for p in (_UNIT_SAID, _LENGTH, _READER))
    decimals, count = _DECIMALS.search(whole), _COUNT.match(question)
    form = AnswerForm(
        length=length["length"] if length else None,
        unit=unit["unit"] if unit else None,
        decimals=_number(decimals["n"]) if decimals else None,
        count=_number(count["n"]) if count else None,
        reader=reader["reader"] if reader else None,
        says_when_missing=any(_MISSING.match(part) for part in said),
    )
    return None if form == AnswerForm() else form


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else int(word_value(text))


def _sources(said: list[str]) -> Iterator[str]:
    for part in said:
        for found in _SOURCE.finditer(part):
            name = " ".join(found["source"].split())
            if not _VAGUE.search(name):
                yield name.casefold()


def counted(question: str) -> tuple[int, int] | None:
    """Return where a question says how many things it wants named: "three" of "three reasons"."""
    found = _COUNT.match(question)
    return found.span("n") if found else None


# An answer type, and where to look.

MAX_QUERY_CHARS: Final = 2_000

# Imperatives that wrap a request: "Give me all …", "Please list the …", "I want to know whether …",
# "Summarize the discussion about …", "Find evidence that …".
_WRAPPER: Final = re.compile(
    r"^\s*(?:please\s+)?(?:(?:can|could|would) you\s+)?(?:please\s+)?"
    r"(?:(?:give|show|tell|find|get|bring)(?:\s+(?:me|us))?|list|name|search(?:\s+for)?|look for|"
    r"describe|explain|identify|summari[sz]e|outline|recap|"
    r"i (?:want|need|would like) to (?:know|see|find))\b"
    r"(?:\s+(?:whether|if|about|of))?(?:\s+(?:all|any|every|some)(?:\s+of)?)?(?:\s+the)?\s+"
    r"(?:(?:discussions?|conversations?|debates?|evidence|information|details?|statements?)\s+"
    r"(?:about|on|regarding|concerning|of|for|that)\s+(?:the\s+)?)?",
    re.I,
)
_SCOPE: Final = re.compile(
    r"\b(?:in|within|from|according to|of)\s+the\s+(?P<name>[\w ,&-]{2,40}?)\s+"
    r"(?:section|chapter|part)\b|\b(?:in|within|from)\s+(?:section|chapter)\s+(?P<number>\d+(?:\.\d+)*)\b"
    r"|\b(?:in|within|from)\s+the\s+(?P<part>abstract|introduction|conclusions?|appendix|discussion|"
    r"references|footnotes?|captions?)\b"
    r"|\b(?:in|within|from|on|per|according to|using|based on)\s+the\s+(?P<statement>"
    r"(?:(?:condensed|consolidated)\s+)*(?:balance sheet|(?:cash flows?|income|profit and loss|P&L)"
    r" statement|statement of (?:cash flows?|income|operations|earnings|financial position|"
    r"financial condition|comprehensive income|(?:changes in )?(?:shareholders' |stockholders' )?"
    r"equity))s?)\b",
    re.I,
)
_ANSWERS: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern, re.I), answer)
    for pattern, answer in (
        (r"^(?:who|whom|whose)\b", "person or organization"),
        (r"^when\b|^(?:in|on|since|until) (?:what|which) (?:year|month|day|date)\b", "time"),
        (r"^where\b", "place"),
        (r"^how (?:many|much|often|long|old|large|big|high|far|fast)\b", "quantity"),
        (
            r"^what (?:is|was|are|were) the (?:number|amount|size|share|percentage|rate)\b",
            "quantity",
        ),
        (r"^why\b", "reason"),
        (r"^how\b", "manner"),
        (
            r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|must)\b"
            r".*\?\s*$",
            "yes or no",
        ),
    )
)
_WHICH: Final = re.compile(
    r"^(?:(?:in|on|for|with|by|of)\s+)?(?:which|what)\s+(?!(?:is|are|was|were|do|does|did|has|have|"
    r"had|can|could|will|would)\b)(?P<noun>[a-z][\w-]*)",
    re.I,
)


def unwrapped(text: str) -> str:
    """Return the request without the imperative around it."""
    return _WRAPPER.sub("", text, count=1)


def scope_of(
    text: str, has_section: Callable[[str], bool]
) -> tuple[tuple[str, ...], list[tuple[int, int]]]:
    """Return the sections a query restricts itself to, and where it says so.

    "In the old part" is no restriction where no section is called that: a scope is a filter, and
    one that hides everything would answer a question nobody asked.
    """
    names, places = [], []
    for match in _SCOPE.finditer(text):
        name = next(g for g in match.groups() if g).strip().casefold()
        if has_section(name):
            names.append(name)
            places.append(match.span())
    return tuple(names), places


def answer_type(text: str) -> str | None:
    """Return what kind of thing would answer the question, None for a claim."""
    bare = text.strip()
    for pattern, answer in _ANSWERS:
        if pattern.search(bare):
            return answer
    match = _WHICH.match(bare)
    return match.group("noun").casefold() if match else None


def require_query(text: str) -> None:
    """Refuse what no query can be.

    Raises:
        InputError: The text is empty, too long or no text at all.
    """
    if not text.strip():
        raise InputError("the query is empty", hint="ask a question or state a claim")
    try:
        text.encode()
    except UnicodeEncodeError:  # half a character, or an argument of other bytes
        raise InputError(
            f"the query {text[:60]!r} is no text in UTF-8", hint="check how it was typed or sent"
        ) from None
    if len(text) > MAX_QUERY_CHARS:
        raise InputError(
            f"the query has {len(text):,} characters, at most {MAX_QUERY_CHARS:,} are read",
            hint="ask one question at a time",
        )


# Questions about a document as a whole: "What is this paper about?".
#
# They name nothing that a passage could say. What a document is about its title says, so that is
# looked for; where it has none but the name of a file, its first words are. The title of a filing
# names a form and a period, which its passages are not about: its filer's business is looked for.

_DOCUMENT: Final = (
    r"(?:this|the|that|your|our)\s+(?:whole\s+|entire\s+)?(?:document|paper|article|report|text|study|"
    r"page|website|file|manuscript|contract|agreement|filing|book|manual|essay|story|letter|post)|this|it"
)
_ABOUT: Final = re.compile(
    rf"\W*(?:what|who)(?:\s+is|'s|’s|\s+does)?\s+(?:{_DOCUMENT})\s+(?:all\s+)?"
    r"(?:about|deal\w*\s+with|cover|discuss|describe|say|talk\s+about|concern)\W*"
    rf"|\W*what(?:\s+is|'s|’s|\s+are)\s+the\s+(?:(?:main|overall|central|general)\s+)?"
    r"(?:topic|subject|theme|gist|subject\s+matter|content|contents|purpose|point)s?\s+of\s+"
    rf"(?:{_DOCUMENT})\W*"
    rf"|\W*(?:please\s+)?(?:summari[sz]e|give\s+(?:me\s+)?(?:an?\s+)?(?:overview|summary)\s+of)\s+"
    rf"(?:{_DOCUMENT})\W*",
    re.IGNORECASE,
)
_WORDS: Final = 20


def asks_for_overview(text: str) -> bool:
    """Tell whether a query asks what the document is about, and nothing else."""
    return _ABOUT.fullmatch(" ".join(text.split())) is not None


def said_of_itself(document: Document) -> str:
    """Return what a document is about: a filer's business, its title, or else its first words."""
    cover = read_cover(cover_lines(document.text, document.blocks))
    if cover is not None and cover.filed:
        return f"{cover.company}'s business"
    stem = document.id.replace("-", " ").casefold()
    if document.title and document.title.casefold().replace("-", " ").replace("_", " ") != stem:
        return document.title
    texts = (b.text for b in document.blocks if b.kind is not BlockKind.TABLE and b.text)
    return " ".join(next(texts, "").split()[:_WORDS])


# What the grammar of a question says: its subject, what it denies, what would answer it.

# With "this" or "the" before them and nothing more, they are the very document that is searched.
_SELF: Final = frozenset(
    "paper document study article report section text manuscript manual author filing".split()
)
_POINTING: Final = frozenset({"this", "the", "these", "present", "current", "your", "their"})
_OF: Final = frozenset({"of", "with", "between", "by"})  # one of several: "the agreement with TSMC"
_AUXILIARIES: Final = frozenset({"do", "does", "did", "has", "have", "had"})
_PHRASAL: Final = 2  # words of a verb with a particle
_SENSES: Final = 2  # of a noun, in which it may be a word for people
_MODAL: Final = frozenset("allow permit need require oblige entitle suppose tend keep".split())
_OWN_WORDS: Final = frozenset({"agent", "prep", "dobj", "dative", "npadvmod"})
_SUPPORT: Final = frozenset({"be", "have", "do", "get", "let"})
_NEGATIONS: Final = frozenset({"no", "not", "n't", "never", "without", "neither", "nor", "none"})


def points_at_document(words: Words, at: int, names: Collection[str] = ()) -> bool:
    """True where a word only points at the document: "this paper", "the authors".

    Args:
        words: The question.
        at: Where the word begins.
        names: What this document may be called besides, by its title.
    """
    token = next((i for i in range(words.size) if words.start[i] == at), None)
    if not token or words.lower[token - 1] not in _POINTING:
        return False
    if words.key[token] not in _SELF and words.key[token] not in names:
        return False
    after = token + 1
    asked = token > 1 and words.lower[token - 2] in _AUXILIARIES  # "does this paper use"
    goes_on = after < words.size and (words.pos[after] in NOUNS or words.lower[after] in _OF)
    return asked or not goes_on


def is_negated(words: Words, token: int) -> bool:
    """True when a word is denied; "NO" in a text that is not all capitals is nitric oxide."""
    head = words.head[token]
    near = [token, *words.children[token], head]
    # "the party shall not disclose the fact" denies the fact and no party
    near += [c for c in words.children[head] if words.dep[c] == "neg" and c < token]
    return any(
        (words.dep[i] == "neg" or words.lower[i] in _NEGATIONS) and not _named_no(words, i)
        for i in near
    )


def _named_no(words: Words, token: int) -> bool:
    shouted = all(text.isupper() for text in words.text if text.isalpha())
    return words.text[token].isupper() and not shouted


def asked_for(text: str, words: Words) -> str | None:
    """Return what kind of thing would answer a question; what "which" stands by, by the parse."""
    asked = answer_type(text)
    which = next((i for i in range(words.size) if words.lower[i] in ("which", "what")), None)
    if which is None or asked is None or asked not in words.lower[which + 1 : which + 2]:
        return asked
    head = words.head[which]
    if words.dep[which] == "det" and words.pos[head] in NOUNS:
        return words.lower[head]
    return asked if words.pos[which + 1] in NOUNS else None


def subjects(words: Words) -> Iterator[int]:
    """Go through the nouns a question may be about, the likeliest first.

    The subject of the main clause, or else its attribute or object; each is followed by what it is
    made of, for "the number of stores" is about stores.
    """
    roots = [i for i in range(words.size) if words.head[i] == i]
    for dep in ("nsubj", "nsubjpass", "attr", "dobj"):
        for root in roots:
            for token in words.children[root]:
                if words.dep[token] == dep and words.pos[token] in NOUNS:
                    yield token
                    yield from (c for c in words.children[token] if words.dep[c] == "compound")
                    for prep in words.children[token]:
                        if words.dep[prep] == "prep":
                            yield from (c for c in words.children[prep] if words.dep[c] == "pobj")


def verb_slots(words: Words, verb: int, named: Collection[int]) -> tuple[str, ...]:
    """Return the arguments a verb has in the question; `named` are tokens of names."""
    slots = []
    # a question puts its subject where the parser may not see that it is one
    children = words.children[verb]
    before = any(c < verb and (words.pos[c] in NOUNS or c in named) for c in children)
    if before or words.child(verb, "nsubj", "agent", "csubj") is not None:
        slots.append("who")
    has_object = words.child(verb, "dobj", "obj", "nsubjpass", "dative") is not None
    prepositions = [c for c in children if words.dep[c] == "prep"]
    if has_object or any(words.lower[p] in ("with", "to", "against") for p in prepositions):
        slots.append("whom")
    subject = words.child(verb, "nsubj")
    if slots == ["who"] and subject is not None and _is_thing(words, subject, named):
        return ()  # "when does a check run?" asks of what somebody may run
    return tuple(slots)


def _is_thing(words: Words, noun: int, named: Collection[int]) -> bool:
    """Tell whether a noun is a word for something that is nobody, and no group of people."""
    if words.pos[noun] != "NOUN" or noun in named:
        return False
    net = wordnet()
    senses = net.synsets(words.key[noun], Pos.NOUN)[:_SENSES]
    people = (net.synset("person.n.01"), net.synset("group.n.01"))
    return bool(senses) and not any(one in net.ancestors(s) for s in senses for one in people)


def is_modal(words: Words, verb: int) -> bool:
    """Tell whether a verb only says that another may, must or goes on: "is allowed to copy".

    With a word of its own it says more: "is required by law to disclose".
    """
    done = words.child(verb, "xcomp")
    if words.lemma[verb] not in _MODAL or done is None or not words.key[done]:
        return False
    says_more = words.child(verb, *_OWN_WORDS) is not None
    return words.pos[done] == "VERB" and words.lemma[done] not in _SUPPORT and not says_more


def noun_slots(words: Words, noun: int) -> tuple[str, ...]:
    """Return the arguments a noun that names an event has in the question."""
    slots: dict[str, None] = {}
    if words.child(noun, "poss") is not None:
        slots["who"] = None
    for preposition in (c for c in words.children[noun] if words.dep[c] == "prep"):
        name = words.lower[preposition]
        if name in ("between", "among"):
            slots |= {"who": None, "whom": None}
        elif name == "by":
            slots["who"] = None
        elif name in ("with", "of", "to", "against"):
            slots["whom"] = None
    return tuple(slots)


def carries_event(words: Words, verb: int) -> bool:
    """True when a verb's object is itself the event: "hold a meeting", "a meeting was held"."""
    obj = words.child(verb, "dobj", "obj", "nsubjpass")
    return obj is not None and names_event(words.key[obj])


def idioms_in(words: Words) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Go through the idioms of a query: first and last token, and what they say in plain words."""
    for i in range(words.size):
        idiom = idiom_at(words.lemma, words.lower, i)
        if idiom and not (idiom.size == _PHRASAL and words.begins_phrase(i + 1)):
            yield i, i + idiom.size - 1, idiom.meanings


def may_name(surface: str) -> bool:
    """True when a surface looks like a name, not like a word some entity happens to share."""
    return any(c.isupper() or c.isdigit() for c in surface) or " " in surface


def subject_of(words: Words, found: Sequence[tuple[int, Literal]]) -> Literal | None:
    """Return the literal that the question is about; one that says little never is."""
    for token in subjects(words):
        for at, literal in found:
            inside = at <= words.start[token] < at + max(1, len(literal.label))
            if inside and not is_light(literal):
                return literal
    return None
