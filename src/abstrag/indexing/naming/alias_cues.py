"""What stands between two names of one thing, and around them, where a text says that they are one.

Everything here is a regular expression of words, made by hand; who reads with them checks besides
that nothing is denied and that what follows is a name.
"""

from __future__ import annotations

import re
from typing import Final

from abstrag.files import read_data_file

_DOUBTED: Final = (
    r"(?:wrong|false|mistaken|incorrect|alleged|erroneous|hard|scarce|rare|on|collective|joint)ly\b"
)
_HOW: Final = (
    r"(?:(?:also|once|better|often|sometimes|now|later|since|hereafter|hereinafter|henceforth|herein"
    rf"|below|(?!{_DOUBTED})\w+ly)\s+)*"
)
_KNOWN: Final = (
    r"(?:known|referred\s+to)(?:\s+\w+ly)?"
    r"(?:\s+(?:to|by|among|in|throughout|along|across|around|at|on|within)\s+(?:[\w-]+\s+){1,4}?|\s+)as"
)
_SORT_OF_NAME: Final = (
    r"(?:(?:pen|stage|code|brand|trade|trading|company|business|project|product|pet|short|nick|internal|working"
    r"|local|former|old|popular|real|full|proper|official|original|maiden|birth|other|legal|common"
    r"|informal|usual|new|current|present|later)[ -]?)"
)
_UNDER_NAME: Final = (
    r"(?:(?:under|by)\s+(?:(?:the|its|his|her|their)\s+)?(?:assumed\s+|false\s+)?"
    rf"(?:{_SORT_OF_NAME}?name|pseudonym|alias|initials)(?:\s+of)?)"
)
_SOMEBODY_CALLS: Final = (  # "which everybody here calls", "whom we simply call"
    r"(?:which|whom|that)\s+(?:[\w'’-]+\s+){1,6}?(?:calls?|called|know\s+as|knows\s+as|refers?\s+to\s+as"
    r"|nicknames?|nicknamed|dub|dubbed|christened|named|bapti[sz]ed)(?:\s+(?:it|him|her|them))?"
)
_PEOPLE_SAY: Final = (  # "(we say the Ringers)", "or the Saucer, as shepherds call it"
    r"(?:\(|,\s+or|\s[–—])\s*(?:(?:we|they|people|locals|everybody|everyone)\s+(?:\w+ly\s+|just\s+|all\s+)?(?:say|says"
    r"|call|calls|called)|(?:the|its|our|their)\s+[\w'’-]+\s+(?:call|calls|called))"
    r"(?:\s+(?:it|them|him|her|ourselves|themselves))?"
)
# What makes of the name that follows another name of the one before: after a comma, a bracket or
# "is" also a mere participle, for "Acme named Ann Roe" gives nobody a name.
ALSO = re.compile(
    r"(?:(?:,?\s*(?:[(,—–]|\bor\b)|\s*,?\s*(?:who|which)?\s*\b(?:is|was|are|were|(?:has|have|had)\s+(?:\w+\s+)?been"
    r"|will\s+be|shall\s+be|came\s+to\s+be|used\s+to\s+be))"
    rf"\s*(?:who\s+is\s+|which\s+is\s+|is\s+)?{_HOW}"
    r"(?:called|named|renamed(?:\s+(?:to|as))?|rebranded(?:\s+(?:to|as))?|code-?named|nicknamed|dubbed|christened"
    r"|bapti[sz]ed|termed|styled|alias|short\s+for|hereafter|hereinafter|henceforth|t/a"
    r"|(?:sold|marketed|branded|traded|trading|(?P<acting>operating|performing|writing))\s+(?:as(?=\s+[A-Z\"“])|under\s+the\s+(?:\w+\s+)?name(?:\s+of)?)"
    rf"|{_SORT_OF_NAME}name:?|in\s+short)"
    rf"|,?\s*(?:\(|,|\b(?:is|was|are|were|(?:has\s+)?(?:become|became))\b|\bor\b|—)?\s*(?:(?:which|who)\s+(?:is\s+|was\s+)?)?{_HOW}"
    rf"(?:{_KNOWN}|known\s+{_UNDER_NAME}|a\.?k\.?a\.?|do(?:ing|es)\s+business\s+as|trad(?:ing|es)\s+as|d/b/a|t/a|(?P<past>formerly)|née"
    rf"|(?:goes?|went|going|(?:operat|trad|writ|publish|perform|work|record|appear|liv|rac)(?:e|es|ing|s|ed)?)\s+(?:\w+\s+)?{_UNDER_NAME}"
    r"|go(?:es)?\s+(?:simply|also|mostly|usually|only)\s+by|by\s+the\s+name\s+of"
    r"|(?:has\s+|have\s+|had\s+)?(?:changed|shortened)\s+(?:its|his|her|their)\s+name\s+to"
    r"|(?:bears|bore|has|had|got|earned|was\s+given|were\s+given|received|acquired|carries|took|adopted|chose)"
    r"(?:\s+(?:itself|himself|herself|themselves))?\s+the\s+(?:affectionate\s+|unofficial\s+|popular\s+|new\s+)?"
    r"(?:nickname|name|pseudonym|pen\s+name|stage\s+name|code\s+name|sobriquet|moniker)(?:\s+of)?:?"
    r"|(?:has\s+)?(?:gone|went)\s+down\s+in\s+history\s+as"
    rf"|{_SOMEBODY_CALLS}|whose\s+(?:nickname|{_SORT_OF_NAME}name)\s+(?:is|was)"
    r"|(?:in\s+the\s+following|in\s+what\s+follows|from\s+(?:here|now)\s+on|below"
    r"|in\s+this\s+(?:agreement|article|bulletin|contract|document|guide|letter|newsletter|notice"
    r"|paper|report|text)):?)"
    rf"|,?\s*{_PEOPLE_SAY}|(?:,?\s+|\s*\()or\s+(?:simply|just)"
    r"|[’']s\s+(?:nickname|short\s+name|pet\s+name|stage\s+name|former\s+name|old\s+name|pen\s+name|real\s+name)\s+(?:is|was)"
    r"|\s*[,(]\s*(?:(?P<weak>officially|popularly|colloquially|informally|affectionately|unofficially|internally"
    r"|locally|commonly|in\s+full|lovingly|fondly)|(?P<earlier>previously|once|now|originally)):?"
    r"(?=\s+(?:the\s+)?[\"“]?[A-Z][^,.;()]{1,40}[,)]))"
    r"\s+(?:simply\s+|just\s+|the\s+name\s+)*(?:the\s+)?[\"“‘']?(?:the\s+)?",
    re.IGNORECASE,
)
CALLED = re.compile(
    r"(?P<name>[A-Z][\w'’&-]*(?:\s+(?:(?:of|the|and|&|de|la)\s+)?[A-Z][\w'’&-]*){0,4})"
)
# And of the name before: "the Purse as it is usually called", "(Conveyor for short)".
CALLED_SO = re.compile(
    r"\s*(?:[(,—–]|\s-\s)\s*(?:or\s+)?(?:simply\s+|just\s+)?(?:the\s+)?[\"“‘']?(?:the\s+)?"
    rf"{CALLED.pattern}[\"”’']?,?\s+(?:(?:for|in)\s+short\b"
    r"|(?:to|for|among)\s+(?:everyone|everybody|locals|insiders|regulars|us|most|all)\b"
    r"|(?:to|for|among)\s+(?:its|his|her|their|our|most|all|the|local)\s+(?:own\s+|many\s+|local\s+|old\s+)?(?P<people>[\w’'-]+)"
    r"(?=\s*[,.;)–—]|\s-\s|\s+(?:here|in|at|of)\b)"
    r"|in\s+(?:the\s+|our\s+)?(?:local\s+|common\s+|popular\s+|everyday\s+|daily\s+)?"
    r"(?:dialect|parlance|speech|slang|jargon|vernacular|usage)\b"
    r"|in\s+(?P<tongue>[A-Z][a-z]+)(?=\s*[,.;)–—])"
    r"|as\s+(?:[\w'’-]+\s+){1,6}?(?:call|calls|called|known|nicknamed|named|say|says)\b)"
)
THING_CALLED = re.compile(  # "the old bus, nicknamed Bertha,", "the old bus is called Bertha"
    r"(?:(?:,|\s[–—]|\s*\(|\s+(?:is|was))\s*(?:also\s+|now\s+|better\s+|(?:un)?officially\s+|affectionately\s+)?"
    r"(?:nicknamed|code-?named|dubbed|christened|known\s+to\s+(?:[a-z]+\s+){1,3}?as"
    r"|which\s+(?:[\w’']+\s+){1,3}?calls?)|\s+is\s+called)\s+(?:the\s+)?[\"“]?(?:the\s+)?"
    rf"{CALLED.pattern}(?=[\"”]?\s*(?:[.,;:)–—]|\s(?:by|and)\s))"
)
OF_ONE: Final = frozenset("the our its their his her my your this".split())
IN_TONGUE = re.compile(
    rf"\s*\((?:in\s+)?(?P<tongue>[A-Z][a-z]+):?\s+[\"“]?{CALLED.pattern}[\"”]?\)"
)
DENIED = re.compile(
    r"\b(?:not|never|no\s+longer|wrongly|mistakenly|falsely|incorrectly|erroneously|cannot|would|should"
    r"|nobody|no\s+one|rather\s+than|instead\s+of|(?:refuse[sd]?|threaten(?:s|ed)?|want(?:s|ed)?|plan(?:s|ned)?"
    r"|propose[sd]?|fail(?:s|ed)?|tried|tries|hope[sd]?|ask(?:s|ed)?|hate[sd]?)\s+to)\b|n[’']t\b",
    re.IGNORECASE,
)
DATED = re.compile(
    r"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August"
    r"|September|October|November|December|Christmas|Easter)\b"
)  # what somebody may be born in
OF_SORT = re.compile(  # "the pen name of American author Ann Lee"
    r"\s+(?!(?:and|as|at|but|by|for|from|in|is|of|on|or|to|was|when|while|who|with)\b)[a-z]+\s+[A-Z]"
)
PART_OF_WORD = re.compile(r"-\w")
NAMED = re.compile(
    r"\b(?:is|was|are|were|been)\s+(?:\w+\s+)?(?:named|called|styled|dubbed|termed)\s+(?P<to>(?:the\s+)?[\"“‘]?(?:the\s+)?)$"
)
RELATIVE = re.compile(r",?\s*(?:who|which|that)\b")
BEGINS_SENTENCE = re.compile(r"(?:^|[.!?;:]\s*)(?:The\s+)?$")
BEGINS_CLAUSE = re.compile(
    r"(?:^|[.!?;:,–—(\"“]\s*|[’']s\s+"
    r"|\b(?:that|when|where|after|since|while|because|but|\d{4}|[Tt]oday|[Nn]ow)\s+|\b(?:players|team|side|squad|crew|eleven)\s+of\s+)(?:[Tt]he\s+)?$"
)
SOMEBODY_AT = re.compile(r"[A-Z][a-z]+\s+(?:at|in|on)(?:\s+the)?")
CROWDS: Final = frozenset(
    "staff crew press team public family folk press papers newspapers".split()
)
_IN_SHAPES: Final = read_data_file("abstrag.indexing.naming", "alias_shapes.toml")


def _filled(shape: str) -> str:
    """Join the lines of a shape and fill in its parts, which may have parts themselves."""
    joined = "".join(line.strip() for line in shape.splitlines())
    return re.sub(r"\{([A-Z]+)\}", lambda part: _filled(_IN_SHAPES["parts"][part[1]]), joined)


SHAPES: Final = tuple(
    (re.compile(shape["sign"]), re.compile(_filled(shape["shape"])))
    for shape in _IN_SHAPES["shape"]
)
SENTENCE_END = re.compile(r"[.!?;]\s")
AROUND: Final = 30  # letters before a name in which it may be denied
WRITTEN_LARGE = re.compile(  # "the Parents' Fund for Outings and Instruments"
    r"(?<![\w'’-])[A-Z][\w'’&-]*(?:\s+(?:(?:of|for|and|&|de|in|on|to|at|du|von)\s+(?:(?:the|la)\s+)?)?"
    r"[A-Z][\w'’&-]*)+(?:\s+(?:1[5-9]|20)\d\d\b)?"
)
CALLED_BEFORE = re.compile(r"\b(?:call|calls|called|nickname|nicknamed|dub|dubbed)\s+(?:the\s+)?$")
CALLED_AFTER = re.compile(
    rf"\s+(?:the\s+[\"“‘']?|[\"“‘'](?:the\s+)?){CALLED.pattern}(?=[\"”’']?\s*(?:[.,;:)]|$))"
)
AS_IS_KNOWN = re.compile(  # "the Hops, as Northgate Brewing is known"
    rf"(?:\bThe\s+)?{CALLED.pattern.replace('name', 'alias')},\s+as\s+(?:the\s+)?{CALLED.pattern}"
    r"\s+(?:is|was|are)\s+(?:\w+\s+){0,2}(?:known|called|nicknamed|dubbed)\b"
)
SPOKEN = re.compile(  # Robert "Bobby" Keane
    r"(?P<first>[A-Z][\w'’-]+)\s+[\"“‘'](?P<spoken>[A-Z][\w' -]{1,20})[\"”’']\s+"
    r"(?P<last>[A-Z][\w'’-]+)"
)
PART_BRACKET = re.compile(
    r"\(\s*(?:(?:or\s+|simply\s+|just\s+|hereafter|hereinafter|henceforth|below|in\s+what\s+follows"
    r"|in\s+the\s+following|from\s+(?:here|now)\s+on|in\s+short)[:,]?\s*)*(?:the\s+)?"
    r"(?P<part>[A-Z][\w'’-]*)(?:\s+(?:from\s+(?:here|now)\s+on|for\s+short|below))?\s*\)"
)
