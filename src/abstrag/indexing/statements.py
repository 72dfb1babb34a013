"""S(s): what a segment states, and how firmly, from lexical and citation cues (appendices A, B)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from abstrag.model.statement import Profile, Statement, StatementKind

if TYPE_CHECKING:
    from spacy.tokens import Span as Tokens

_CITATION: Final = (
    r"\[\d+(?:\s*[-–,]\s*\d+)*\]|\bet al\b"
    r"|\([A-Z][\w'-]+(?: (?:and|&) [A-Z][\w'-]+)?,? (?:19|20)\d\d"
)
# Tried in this order: the weakest reading that a cue supports wins.
_PROFILES: Final[tuple[tuple[Profile, re.Pattern[str]], ...]] = tuple(
    (profile, re.compile(pattern, re.I if profile is not Profile.CITED_EXTERNAL else 0))
    for profile, pattern in (
        (
            Profile.DEFEATED,
            r"\b(?:retracted|refuted|disproved|disproven|debunked|(?:was|were|been) withdrawn|"
            r"no longer (?:holds|valid|supported|in force)|failed to replicate|superseded by|"
            r"overturned|rescinded|turned out to be (?:false|wrong))\b",
        ),
        (
            Profile.DISPUTED,
            r"\b(?:controvers(?:y|ial)|conflicting|disputed|contested|debated|inconsistent (?:with|"
            r"results|findings)|mixed (?:evidence|results)|remains? (?:unclear|uncertain|"
            r"unresolved)|inconclusive|allegedly|critics (?:say|argue))\b",
        ),
        (
            Profile.HYPOTHESIS,
            r"\b(?:may|might|could|possibly|perhaps|probably|presumably|potentially|likely|"
            r"hypothesi[sz]e[ds]?|hypothesis|speculate[ds]?|conjecture[ds]?|suggest(?:s|ed|ing)?|"
            r"appears? to|seems? to|we (?:believe|expect|suspect)|is expected to|plans? to|"
            r"intends? to|would)\b",
        ),
        (
            Profile.CITED_EXTERNAL,
            _CITATION + r"|\b(?:[Aa]ccording to|[Pp]revious(?:ly)? (?:stud(?:y|ies)|work|reported|"
            r"shown)|[Pp]rior work|[Ee]arlier work|has been (?:shown|reported|suggested)|have been "
            r"(?:shown|reported|suggested)|reported that|told reporters|said|says)\b",
        ),
        (
            Profile.ESTABLISHED,
            r"\b(?:it is (?:well[- ])?known|well[- ]established|well[- ]known|widely accepted|"
            r"by definition|is defined as|means that|generally accepted|theorem|consensus)\b",
        ),
        (
            Profile.STRONG_CLAIM,
            r"\b(?:we (?:show|find|found|demonstrate|prove|report|observe[ds]?|establish|conclude|"
            r"present|propose|introduce)|our (?:results|findings|experiments|analysis)|these (?:"
            r"results|findings)|results (?:show|indicate|demonstrate)|demonstrate[sd]?|reveals?"
            r"|revealed|significantly|outperforms?|caused?|leads? to|shall|must|signed)\b",
        ),
    )
)
_CUED: Final = 0.9  # confidence when a cue was seen
_DEFAULT: Final = 0.7  # no marker present: the author's own claim, as the paper has it

_CITED: Final = re.compile(_CITATION)
_FINITE: Final = frozenset({"VBD", "VBP", "VBZ", "MD"})
_PROPERTY: Final = re.compile(
    r"\d|\b(?:higher|lower|greater|less|more|fewer|larger|smaller|equal to|at (?:least|most)|"
    r"than)\b",
    re.I,
)
_CONCEPT: Final = re.compile(
    r"\b(?:is|are) defined as\b|\brefers? to\b|\bmeans\b|\b(?:is|are) (?:a|an) (?:kind|type|form|"
    r"class) of\b|\b(?:is|are) (?:called|known as|termed)\b|\bdenotes?\b|\bwe (?:call|define)\b",
    re.I,
)
_EVIDENCE: Final = re.compile(
    _CITATION
    + r"|\b[Aa]ccording to\b|\b(?:Table|Figure|Fig\.|Appendix) \d|\b(?:study|studies|trial|"
    r"survey|experiment|cohort|dataset|sample) (?:of|with|shows?|found)\b"
)


def extract_statements(tokens: Tokens, bounds: list[tuple[int, int]]) -> tuple[Statement, ...]:
    """Return the statements of a segment; `bounds` are its sentences as character offsets.

    A sentence with a finite verb that neither asks nor orders is a claim. It is a property as well
    when it measures or compares, a concept when it defines, and an evidence item when it cites.
    Text with no verb, such as a table row, is a property.
    """
    return tuple(s for start, end in bounds for s in _of_sentence(tokens, start, end))


def _of_sentence(tokens: Tokens, start: int, end: int) -> Iterator[Statement]:
    text = tokens.text[start:end]
    profile, confidence, cue = profile_of(text)

    def made(kind: StatementKind) -> Statement:
        return Statement(kind, profile, confidence, start, end, cue)

    part = tokens.doc.char_span(tokens.start_char + start, tokens.start_char + end)
    finite = part is not None and any(t.tag_ in _FINITE for t in part)
    measured = bool(_PROPERTY.search(_CITED.sub("", text)))
    if finite and not text.rstrip().endswith("?"):
        yield made(StatementKind.CLAIM)
    if measured or not finite:
        yield made(StatementKind.PROPERTY)
    if _CONCEPT.search(text):
        yield made(StatementKind.CONCEPT)
    if _EVIDENCE.search(text):
        yield made(StatementKind.EVIDENCE)


def profile_of(text: str) -> tuple[Profile, float, str]:
    """Return a sentence's epistemic profile, how sure that is, and the words that gave it away."""
    for profile, pattern in _PROFILES:
        if match := pattern.search(text):
            return profile, _CUED, match.group(0)
    return Profile.STRONG_CLAIM, _DEFAULT, ""
