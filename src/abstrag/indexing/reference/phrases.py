"""Sentences in the order they are read, and their noun phrases as candidates for reference."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Flag, auto
from typing import TYPE_CHECKING, Final

from abstrag.indexing.naming.mentions import UNLABELLED, PlacedName
from abstrag.indexing.operator import IndexDraft
from abstrag.indexing.segment import sentences
from abstrag.language.names import Gender, gender_of, person_name
from abstrag.lexicon.inventory import listed_words
from abstrag.model.document import BlockKind
from abstrag.model.segment import SegmentKind

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token
    from spacy.tokens import Span as Tokens

_TABLES = frozenset({SegmentKind.TABLE_CELL, SegmentKind.TABLE_ROW})
_ASIDES = frozenset({BlockKind.CAPTION, BlockKind.FOOTNOTE})
_QUOTED = 4  # words
_QUOTATION = re.compile(r"[“\"]([^”“\"]{12,}?)[”\"]")
# Prominence by grammatical role (Lappin and Leass, 1994, in spirit; the numbers are ours).
_SUBJECT: Final = 1.0
_MEN: Final = listed_words("men")
_WOMEN: Final = listed_words("women")
_PEOPLE: Final = _MEN | _WOMEN | listed_words("people")
_GROUPS: Final = listed_words("groups")
_MOMENTS: Final = listed_words("moments")
_LESSER_SUBJECT: Final = 0.8  # of a subordinate clause
_PASSIVE_AGENT: Final = 0.5
_OBJECT: Final = 0.6
_OBLIQUE: Final = 0.45
_POSSESSOR: Final = 0.5
_NESTED: Final = 0.25  # inside another noun phrase
_NESTED_PERSON: Final = 0.6  # "the position of women": people stand out wherever they are
_MODIFIER: Final = 0.1
_OTHER: Final = 0.3
_SUBJECTS: Final = frozenset({"nsubj", "nsubjpass", "csubj"})
_SKIPPED: Final = frozenset({"appos", "attr", "npadvmod", "expl", "meta"})
_MODIFIERS: Final = frozenset({"compound", "amod", "nmod", "nummod", "quantmod"})
_NUMBERS: Final = frozenset("DATE TIME PERCENT MONEY QUANTITY ORDINAL CARDINAL".split())
_THINGS: Final = frozenset("this that these those what which".split())
_NO_ONE_THING: Final = frozenset("no any either neither another all".split())
_BINDS: Final = frozenset({"each", "every"})  # "it" in reach of "each paper" is that paper
_VAGUE: Final = frozenset(
    """others one ones rest latter former thing things something table figure section fig equation
    algorithm appendix""".split()
)


@dataclass(frozen=True, slots=True)
class SentenceSpan:
    """Tokens `first` to before `last` of a parsed text.

    `base` is where the segment begins in the parsed text, `start` where the sentence does.
    """

    number: int
    parse: int
    first: int
    last: int
    segment: int
    paragraph: int
    base: int
    start: int
    text: str


def stretches(draft: IndexDraft) -> Iterator[list[SentenceSpan]]:
    """Go through runs of sentences that belong together.

    A section's prose is one stretch, whatever tables stand in between; each caption and footnote
    is one of its own. Tables and code refer to nothing.
    """
    assert draft.segmented is not None
    running: list[SentenceSpan] = []
    section: tuple[str, ...] | None = None
    for i, segment in enumerate(draft.segments):
        kind = draft.document.blocks[segment.block].kind
        if segment.kind in _TABLES or kind is BlockKind.CODE:
            continue
        if kind in _ASIDES:
            yield _sentences(draft, i, 0)
            continue
        if segment.section != section and running:
            yield running
            running = []
        section = segment.section
        running.extend(_sentences(draft, i, len(running)))
    if running:
        yield running


def _sentences(draft: IndexDraft, segment: int, number: int) -> list[SentenceSpan]:
    assert draft.segmented is not None
    parse, first, last = draft.segmented.tokens[segment]
    doc = draft.parses[parse]
    base = doc[first].idx if first < len(doc) else 0
    cuts = [(first, last)]
    if draft.segments[segment].kind is not SegmentKind.SENTENCE:
        cuts = [(max(a, first), min(b, last)) for a, b in sentences(doc) if a < last and first < b]
    made: list[SentenceSpan] = []
    for a, b in cuts:
        begin, end = doc[a].idx, doc[b - 1].idx + len(doc[b - 1])
        made.append(
            SentenceSpan(
                number=number + len(made),
                parse=parse,
                first=a,
                last=b,
                segment=segment,
                paragraph=draft.segments[segment].block,
                base=base,
                start=begin,
                text=draft.segments[segment].text[begin - base : end - base],
            )
        )
    return made


def quotations(text: str) -> list[tuple[int, int]]:
    """Return where a text quotes somebody, in characters; a quoted word or title does not count."""
    return [m.span(1) for m in _QUOTATION.finditer(text) if len(m.group(1).split()) >= _QUOTED]


class Fits(Flag):
    """The pronouns a phrase can be the antecedent of."""

    HE = auto()
    SHE = auto()
    IT = auto()
    THEY = auto()
    NONE = 0
    PERSON = HE | SHE
    ALL = HE | SHE | IT | THEY


_BY_GENDER: Final[dict[Gender | None, Fits]] = {Gender.MALE: Fits.HE, Gender.FEMALE: Fits.SHE}
_ACTING: Final = frozenset({"nsubj", "ROOT"})  # what people do and things hardly
_MOSTLY: Final = 0.7  # share of PERSON labels from which on a name is a person's


class DocumentEntities:
    """Who a document speaks of: what each name as written stands for, and what that is."""

    def __init__(self, names: Iterable[PlacedName], groups: Mapping[str, str]) -> None:
        """Take the names with the group of each as written."""
        self.groups = groups
        self.labels: dict[str, Counter[str]] = defaultdict(Counter)
        self.people: dict[str, Fits] = {}  # those whose title or given name tells he from she
        first_names: dict[str, Fits] = {}
        for name in names:
            group = groups[name.text]
            self.labels[group][name.label] += 1
            person = person_name(name.text) if name.label in ("PERSON", UNLABELLED) else None
            if person is None:
                continue
            if person.titles or person.gender:
                told = _BY_GENDER.get(person.gender, Fits.PERSON)
                self.people[group] = self.people.get(group, told) & told or Fits.PERSON
            elif gender := gender_of(person.surname):
                first_names[group] = _BY_GENDER[gender]
        self.people = {**first_names, **self.people}  # "James" may be a surname: the rest decides

    def fits(self, name: PlacedName, root: Token) -> tuple[Fits, Fits]:
        """Say which pronouns can stand for a name, and which might for all we know.

        spaCy takes many a surname for a place, a firm or a people, so what it says of one mention
        counts less than what it says of all of them.
        """
        group = self.groups[name.text]
        labels = self.labels[group]
        share = labels["PERSON"] / max(1, labels.total() - labels[UNLABELLED])
        if name.cited:
            return Fits.NONE, Fits.ALL
        if group in self.people:
            return self.people[group], Fits.NONE
        if share > _MOSTLY and person_name(name.text) is not None:
            acts = root.dep_ in _ACTING or owns(root)
            return Fits.PERSON if acts else Fits.NONE, Fits.ALL
        single = name.first == name.last and name.text.istitle()
        rivals = Fits.PERSON | Fits.IT if share or single else Fits.NONE
        if share:
            return Fits.NONE, rivals
        if not name.text.isupper() and (labels["NORP"] or root.doc[name.last].tag_ == "NNPS"):
            return Fits.THEY, rivals
        return Fits.IT, rivals | Fits.THEY if labels["ORG"] else rivals


def owns(root: Token) -> bool:
    """True for a possessor, which spaCy does not always call one."""
    following = root.doc[root.i + 1] if root.i + 1 < len(root.doc) else root
    return root.dep_ == "poss" or following.tag_ == "POS"


def _fits_noun(root: Token) -> tuple[Fits, Fits]:
    """Say which pronouns can stand for a common noun, and which might for all we know."""
    word = root.lemma_.lower()
    unknown = Fits.ALL if root.pos_ == "PROPN" else Fits.NONE
    if root.tag_ in ("NNS", "NNPS"):
        return Fits.THEY, unknown
    if word in _PEOPLE:
        gender = Fits.HE if word in _MEN else Fits.SHE if word in _WOMEN else Fits.PERSON
        return gender, Fits.THEY
    return Fits.IT | Fits.THEY if word in _GROUPS else Fits.IT, unknown


@dataclass(frozen=True, slots=True)
class Phrase:
    """A mention that a later one may refer to; offsets are those of its segment's text.

    `fits` are the pronouns it can be the antecedent of. `rivals` are those it may be meant by for
    all we know: it keeps others from being chosen, and is never chosen itself.
    """

    referent: str
    sentence: SentenceSpan
    first: int
    last: int
    head: int
    start: int
    end: int
    weight: float
    subject: bool
    fits: Fits
    rivals: Fits = Fits.NONE
    noun: str = ""  # the head's lemma, where it is no name
    name: PlacedName | None = None
    pronoun: bool = False
    binds: bool = False  # "each paper"


def phrases(
    doc: Doc,
    sentence: SentenceSpan,
    chunks: Iterable[Tokens],
    names: Sequence[PlacedName],
    cast: DocumentEntities,
) -> Iterator[Phrase]:
    """Go through the noun phrases of a sentence, given its noun chunks and its names."""
    by_token = {i: name for name in names for i in range(name.first, name.last + 1)}
    left = list(names)
    by_head: dict[int, Phrase] = {}
    for chunk in chunks:
        root = chunk.root
        if root.dep_ in _SKIPPED or (root.dep_ == "pobj" and root.head.lower_ == "as"):
            continue
        name = by_token.get(root.i)
        if root.pos_ == "PRON":
            yield from _pronoun(sentence, chunk, by_head)
        elif name is None and _common(root):
            by_head[root.i] = _plain(sentence, chunk)
            yield by_head[root.i]
        elif name is not None and name in left:
            left.remove(name)
            by_head[root.i] = _named(sentence, name, root, cast)
            yield by_head[root.i]
        yield from _coordination(sentence, chunk)
        yield from _possessors(sentence, root, by_token)
    for name in left:
        root = doc[name.first : name.last + 1].root
        if root.dep_ not in _SKIPPED:
            yield _named(sentence, name, root, cast)


def _pronoun(
    sentence: SentenceSpan, chunk: Tokens, by_head: Mapping[int, Phrase]
) -> Iterator[Phrase]:
    """Read "who" as what it relates to, and "each", "some", "one" as rivals of everything."""
    token = chunk.root
    if token.dep_ not in _SUBJECTS:
        return
    if token.tag_ in ("WP", "WDT") and token.head.dep_ == "relcl":
        related = by_head.get(token.head.head.i)
        if related is not None:
            yield replace(related, head=token.i, weight=_LESSER_SUBJECT, subject=True)
    elif token.tag_ not in ("PRP", "PRP$", "EX"):
        rivals = Fits.IT | Fits.THEY if token.lower_ in _THINGS else Fits.ALL
        yield mention(sentence, token, f"{sentence.parse}:{token.i}", Fits.NONE, rivals=rivals)


def mention(
    sentence: SentenceSpan, token: Token, referent: str, fits: Fits, *, rivals: Fits = Fits.NONE
) -> Phrase:
    """Make a phrase of one token: a pronoun, resolved or not."""
    start = token.idx - sentence.base
    return Phrase(
        referent=referent,
        sentence=sentence,
        first=token.i,
        last=token.i + 1,
        head=token.i,
        start=start,
        end=start + len(token),
        weight=_weight(token),
        subject=token.dep_ in _SUBJECTS,
        fits=fits,
        rivals=rivals,
        pronoun=token.tag_ in ("PRP", "PRP$"),
    )


def _common(root: Token) -> bool:
    return (
        root.pos_ in ("NOUN", "PROPN")
        and root.dep_ not in _SKIPPED
        and root.ent_type_ not in _NUMBERS
        and root.lemma_.lower() not in _MOMENTS
    )


def _named(sentence: SentenceSpan, name: PlacedName, root: Token, cast: DocumentEntities) -> Phrase:
    group = cast.groups[name.text]
    fits, rivals = cast.fits(name, root)
    return Phrase(
        referent=group,
        sentence=sentence,
        first=name.first,
        last=name.last + 1,
        head=root.i,
        start=name.start,
        end=name.end,
        weight=_weight(root, animate=bool(fits & ~Fits.IT)),
        subject=root.dep_ in _SUBJECTS,
        fits=fits,
        rivals=rivals,
        name=name,
    )


def _plain(sentence: SentenceSpan, chunk: Tokens) -> Phrase:
    root = chunk.root
    fits, rivals = _fits_noun(root)
    first = chunk.start + (chunk[0].pos_ == "DET" and len(chunk) > 1)
    weight = _weight(root, animate=root.lemma_.lower() in _PEOPLE)
    opener = chunk[0].lower_
    if (
        opener in _BINDS
        or opener in _NO_ONE_THING
        or chunk[0].tag_ == "PRP$"
        or root.lower_ in _VAGUE
    ):
        fits, rivals = Fits.NONE, fits | rivals
    return Phrase(
        referent=f"{sentence.parse}:{root.doc[first : chunk.end].text.lower()}",
        sentence=sentence,
        first=chunk.start,
        last=chunk.end,
        head=root.i,
        start=chunk.start_char - sentence.base,
        end=chunk.end_char - sentence.base,
        weight=weight,
        subject=root.dep_ in _SUBJECTS,
        fits=fits,
        rivals=rivals,
        noun=root.lemma_.lower(),
        binds=opener in _BINDS,
    )


def _possessors(
    sentence: SentenceSpan, root: Token, by_token: Mapping[int, PlacedName]
) -> Iterator[Phrase]:
    """Make rivals of possessors that are no names: "Al-Muwaffaq's work", "a village's history"."""
    for child in root.lefts:
        if child.dep_ == "poss" and child.tag_ not in ("PRP$", "WP$") and child.i not in by_token:
            fits, rivals = _fits_noun(child)
            referent = f"{sentence.parse}:{child.i}"
            yield mention(sentence, child, referent, Fits.NONE, rivals=fits | rivals)


def _coordination(sentence: SentenceSpan, chunk: Tokens) -> Iterator[Phrase]:
    """Make one plural phrase of "A and B" when the chunk is its first part."""
    root = chunk.root
    if root.dep_ == "conj" or not any(c.dep_ == "cc" and c.lower_ == "and" for c in root.rights):
        return
    last = next((c for c in root.rights if c.dep_ == "conj" and c.pos_ in ("NOUN", "PROPN")), None)
    while last is not None:
        further = next((c for c in last.rights if c.dep_ == "conj"), None)
        if further is None:
            break
        last = further
    if last is None or last.i >= sentence.last:
        return
    yield Phrase(
        referent=f"{sentence.parse}:{chunk.start}-{last.i}",
        sentence=sentence,
        first=chunk.start,
        last=last.i + 1,
        head=root.i,
        start=chunk.start_char - sentence.base,
        end=last.idx + len(last) - sentence.base,
        weight=_weight(root),
        subject=root.dep_ in _SUBJECTS,
        fits=Fits.THEY,
    )


def _weight(root: Token, *, animate: bool = False) -> float:
    dep, head = root.dep_, root.head
    if dep == "conj":
        return _weight(head, animate=animate) * 0.9 if head.dep_ != "conj" else _OTHER
    if dep in _SUBJECTS:
        main = head.dep_ == "ROOT" or (head.dep_ == "conj" and head.head.dep_ == "ROOT")
        return _SUBJECT if main else _LESSER_SUBJECT
    if dep in ("dobj", "dative"):
        return _OBJECT
    if dep == "pobj":
        if head.dep_ == "agent":
            return _PASSIVE_AGENT
        nested = head.head.pos_ not in ("VERB", "AUX")
        return (_NESTED_PERSON if animate else _NESTED) if nested else _OBLIQUE
    if owns(root):
        return _POSSESSOR
    if dep in _MODIFIERS:
        return _MODIFIER
    return _SUBJECT if dep == "ROOT" else _OTHER
