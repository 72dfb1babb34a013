"""The deny list: what a rule may not say, however it is spelled.

A rule that refinement writes can carry words of a document, and a document may be written to get
its words into the rules. So whatever would change the reply's shape, set other instructions aside,
fix a verdict or favour something by rank is refused.

Before it is matched, text is brought to one spelling: compatibility forms and accents dropped,
look-alike letters and digits turned into the letters they stand for, punctuation inside words and
spaces between single letters taken out, so that `i g n o r e`, `ig-nore` and `1gn0re` read
`ignore`. The plainest offences are also looked for with every space gone, backwards and rotated by
thirteen. What is not meant to be read at all (Base64, escapes, invisible characters) is refused.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterator
from typing import Final

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

_SAY: Final = (
    r"return|output|repl[yi]|respon|answer|writ|emit|print|produc|giv|use\b|using|switch|format"
)
_RANK: Final = (
    r"rank|plac|put\b|scor|rate\b|rating|list|sort|boost|promot|prioriti|prefer|show|return"
)
_TOP: Final = r"first|top\b|topmost|high|above|best|max|ahead|1\b|one\b|100|before all|to the front"
_JUDGE: Final = (
    r"answer|say|said|return|judg|mark|label|treat|consider|output|choose|conclude|decid"
)
_VERDICT: Final = (
    r"sufficient|insufficient|support|refut|relevant|irrelevant|equivalent|implies|same\b|different"
    r"|correct|true\b|false\b|none\b"
)
# stems of words that follow one another with at most eight words in between
_PATTERNS: Final = {
    "it sets instructions aside": (
        (
            r"ignor|disregard|forget|overrid|overrul|bypass|neglect|circumvent|not follow|not obey"
            r"|nt follow|nt obey|no longer follow|instead of|regardless",
            r"schema|format|instruct|prompt|rules?\b|above|previous|earlier|system|guard|constraint"
            r"|everything|directive",
        ),
    ),
    "it asks for another format": (
        (
            _SAY,
            r"yaml|xml|csv|markdown|html|toml|plain text|raw text|free text|freeform|free form"
            r"|prose|code block|no json|not json|without json|nothing else than text",
        ),
        (r"yaml|xml|csv|markdown|html|toml", r"only|instead|format"),
    ),
    "it changes the fields of the reply": (
        (
            r"add|append|insert|includ|introduc|invent|creat|extra|new\b|additional|another|drop"
            r"|remov|renam|omit|delet|leave out|replac|attach",
            r"field|keys?\b|propert|column|attribut|slot|json",
        ),
        (r"chang|modif|alter|extend|drop|break|corrupt", r"schema|reply format|output format"),
    ),
    "it favours something by rank or score": (
        (r"rank", _TOP),
        (r"always|must|never fail|at all times", _RANK, _TOP),
        (_RANK, r"this\b|these\b|our\b|my\b|mine\b|me\b|us\b|the following", _TOP),
        (r"confiden|probabilit|scor|\bp\b", r"always|to 1\b|to one\b|of 1\b|1\.0|max|highest|100"),
        (r"always|must", r"confiden|probabilit|scor", r"1\b|one\b|max|high|100|0\b|zero"),
    ),
    "it fixes the verdict": (
        (r"always|must|never|in any case|whatever", _JUDGE, _VERDICT),
        (
            _JUDGE,
            r"always|(?:every|all|each|any) (?:pair|segment|passage|case|claim|quer|document)",
            _VERDICT,
        ),
    ),
    "it speaks to the model, not about the task": (
        (
            r"you are now|act as|pretend|jailbreak|developer mode|system prompt|system message"
            r"|role play|roleplay|new instructions?|your instructions|as an ai|password|api key"
            r"|secret|do anything now",
        ),
    ),
}
_COMPILED: Final = tuple(
    (reason, re.compile(r"\w*(?: \w+){0,8}? ".join(rf"\b(?:{part})" for part in parts)))
    for reason, patterns in _PATTERNS.items()
    for parts in patterns
)
_RUN_TOGETHER: Final = re.compile(
    "(?:ignor|disregard|overrid|bypass)e?(?:ing)?.{0,24}(?:schema|format|instruction|prompt|rules)"
    "|yamlonly|onlyyaml|xmlonly|returnyaml|returnxml|returnmarkdown|newfield|extrafield"
    "|addafield|additionalfield|alwaysrank|rankthis|rankfirst|rankitfirst|rankusfirst"
    "|alwaysreturnthis|alwaysanswer|systemprompt|youarenow"
)


def denied(text: str) -> str | None:
    """Say why a rule may not be taken; None when nothing speaks against it."""
    if _UNREADABLE.search(text):
        return "part of it is encoded"
    if any(unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs", "Cn") for char in text):
        return "it holds characters that cannot be seen"
    if _MARKUP.search(unicodedata.normalize("NFKC", text)):
        return "it holds a link or markup"
    for spelling in _spellings(text):
        for reason, pattern in _COMPILED:
            if pattern.search(spelling):
                return reason
        letters = "".join(char for char in spelling if "a" <= char <= "z")
        if any(
            map(_RUN_TOGETHER.search, (letters, letters[::-1], codecs.encode(letters, "rot13")))
        ):
            return "it hides an instruction in its spelling"
    return None


def _spellings(text: str) -> Iterator[str]:
    """Go through the ways to read a text as words: as it stands, and with digits for letters."""
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
