"""Which language a text is in: by its script, else by which function words it has.

Only English is read. For any other language it is enough to know that it is another one, and to
say which with some confidence; docs/languages.md has the figures.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

ENGLISH: Final = "en"
NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ar": "Arabic",
        "ca": "Catalan",
        "cs": "Czech",
        "da": "Danish",
        "de": "German",
        "el": "Greek",
        "en": "English",
        "es": "Spanish",
        "fi": "Finnish",
        "fr": "French",
        "he": "Hebrew",
        "hi": "Hindi",
        "hu": "Hungarian",
        "id": "Indonesian",
        "it": "Italian",
        "ja": "Japanese",
        "ko": "Korean",
        "nb": "Norwegian",
        "nl": "Dutch",
        "pl": "Polish",
        "pt": "Portuguese",
        "ro": "Romanian",
        "ru": "Russian",
        "sv": "Swedish",
        "th": "Thai",
        "tr": "Turkish",
        "vi": "Vietnamese",
        "zh": "Chinese",
    }
)
_SCRIPTS: Final = (  # how the name of a letter begins, and the language that is most often meant
    ("CYRILLIC", "ru"),
    ("GREEK", "el"),
    ("ARABIC", "ar"),
    ("HEBREW", "he"),
    ("DEVANAGARI", "hi"),
    ("THAI", "th"),
    ("HANGUL", "ko"),
    ("HIRAGANA", "ja"),
    ("KATAKANA", "ja"),
    ("CJK", "zh"),
)
# The commonest words of each language less those that are common English words, too. Of English
# all of the commonest, for a word that is English speaks for English.
_WORDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "en": frozenset(
            "the of and to in a is was are were be been for on with as by at from that this these "
            "those it its an or not which have has had but their they he she we you what who how "
            "when where why did does do can will would should may more than into about between "
            "there if all no so such other our his her them was during after before per any over "
            "under give based much many list whether also only most some each both it's i my us "
            "using use show tell compare explain describe find please".split()
        ),
        "de": frozenset(
            "der und den das von zu ist des sich mit dem ein eine für auf nicht im auch als bei "
            "werden wurde wird einer einem einen eines nach wie über oder sind zum zur aus durch "
            "dass vor hat haben sie ich wir was wer welche welcher welches kann noch aber bis "
            "wann wo warum gibt es".split()
        ),
        "fr": frozenset(
            "le la les et des du une est pour que qui dans sur par au aux avec ce cette ces pas "
            "plus sont été être ou mais il elle nous vous se sa ses leur leurs quel quelle quels "
            "quelles comment pourquoi où quand combien y à en d'une qu'il l'entreprise a-t-elle "
            "était ont comme".split()
        ),
        "es": frozenset(
            "el la los las de que y en un una por con para del al se es su sus como más pero lo "
            "fue ha son está este esta qué cuál cuáles cómo cuándo dónde cuánto cuánta quién "
            "entre sobre también muy sin desde cuando hasta".split()
        ),
        "it": frozenset(
            "il lo la gli le di che e un una per con del della dei delle nel nella sono è non da "
            "al alla ai alle dal come più ma anche si questo questa quale quali quanto quanti "
            "cosa chi dove quando perché stato stata ha hanno".split()
        ),
        "pt": frozenset(
            "o os as de que e em um uma por com para do da dos das no na nos nas ao se é não foi "
            "são como mais mas sua seu seus suas qual quais quanto quantos quem onde quando "
            "também pela pelo entre sobre está".split()
        ),
        "nl": frozenset(
            "de het een van en dat te voor met zijn niet aan er om ook als dan maar bij nog naar "
            "uit door over wordt worden werd heeft hebben deze dit wat wie hoe waar wanneer "
            "waarom welke hoeveel ze hij zij wij kan op".split()
        ),
        "sv": frozenset(
            "och att det som en på är av för med den till inte har de om ett han men var jag från "
            "vi kan när hur vad vem vilka vilken eller så blev efter mellan också".split()
        ),
        "da": frozenset(
            "og at det som en på er af for med den til ikke har de om et han men var jeg fra vi "
            "kan når hvor hvad hvem hvilke hvilken eller så blev efter mellem også være".split()
        ),
        "nb": frozenset(
            "og at det som en på er av for med den til ikke har de om et han men var jeg fra vi "
            "kan når hvor hva hvem hvilke hvilken eller så ble etter mellom også være".split()
        ),
        "fi": frozenset(
            "ja on ei että se oli mutta kun myös hän ovat kuin joka ole sen tai niin jos sekä "
            "mitä mikä kuka missä miten milloin tämä olla vain mukaan jälkeen".split()
        ),
        "pl": frozenset(
            "i w na z że się nie do to jest jak o po od za przez dla ale czy co tak był była "
            "przy oraz lub które który która jego jej ich są jaki jakie ile kto gdzie "
            "kiedy".split()
        ),
        "cs": frozenset(
            "a v na se je že s z do o to k ve pro za by jako po ale i si od při jsou který která "
            "které nebo jeho co kdo kde kdy jak kolik byl byla bylo".split()
        ),
        "tr": frozenset(
            "ve bir bu için ile da de olarak çok daha en gibi ne olan kadar sonra ama değil "
            "var mi mı mu nasıl neden kim hangi ya her ise oldu".split()
        ),
        "ro": frozenset(
            "și de la în a cu pe nu că din o un este mai pentru ce care sau prin ca dar se sunt "
            "fost unde când cum cine cât al ale lui".split()
        ),
        "hu": frozenset(
            "a az és hogy nem is egy volt ez meg csak de el van ki mint már mi vagy még azt "
            "mely milyen hol mikor miért hány után szerint".split()
        ),
        "id": frozenset(
            "yang dan di dari ini itu untuk dengan pada tidak dalam adalah ke akan oleh juga "
            "atau saya mereka apa siapa berapa bagaimana kapan karena telah sebagai".split()
        ),
        "vi": frozenset(
            "và của là có trong được cho không một các với những này đã để khi người từ đến "
            "như về nào gì bao nhiêu".split()
        ),
        "ca": frozenset(
            "el la els les de i que a en un una per amb del dels és no com més però es va ha "
            "són aquest aquesta què quin quina on quan també al als".split()
        ),
    }
)
_ONLY: Final = MappingProxyType(  # what no English text has
    {code: words - _WORDS[ENGLISH] for code, words in _WORDS.items() if code != ENGLISH}
)
_LANGUAGES: Final = MappingProxyType(  # that have a word
    {
        word: tuple(code for code, own in _ONLY.items() if word in own)
        for word in frozenset().union(*_ONLY.values())
    }
)
_LETTERS: Final = (  # that few other languages write
    ("cs", "řěů"),
    ("da", "øæ"),
    ("de", "ßü"),
    ("es", "ñ"),
    ("fi", "ä"),
    ("fr", "çêè"),
    ("hu", "őű"),
    ("pl", "łąęśżź"),
    ("pt", "ãõ"),
    ("ro", "țăș"),
    ("sv", "å"),
    ("tr", "ğşı"),
    ("vi", "ơưđạảấầậếềệốồộ"),
)
_TOKEN: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SAMPLE: Final = 6_000  # characters at each of three places that are looked at
_SHARE: Final = 0.12  # of the words of a text in another language that are its function words
_AGAINST: Final = 1.5  # times the English ones that there must be
_FEW: Final = 25  # words; fewer are a query, for which one word may be all there is
_FOREIGN: Final = 0.4  # of the letters of another script, where that is told by it


def language_of(text: str) -> str:
    """Return the code of the language a text is in; English where nothing says otherwise.

    >>> language_of("Wie hoch war der Umsatz im Jahr 2021?")
    'de'
    """
    sample = _sampled(text)
    by_script = _of_script(sample)
    if by_script is not None:
        return by_script
    words = [found.casefold().replace("’", "'") for found in _TOKEN.findall(sample)]
    if not words:
        return ENGLISH
    english = sum(word in _WORDS[ENGLISH] for word in words)
    telling = words if len(words) >= _FEW else [word for word in words if len(word) > 1]
    counts = dict.fromkeys(_ONLY, 0)
    for word in telling:
        for code in _LANGUAGES.get(word, ()):
            counts[code] += 1
    for word in words:
        for code, letters in () if word.isascii() else _LETTERS:
            counts[code] += any(letter in word for letter in letters)
    best = max(counts, key=lambda code: (counts[code], code))
    found = counts[best]
    if len(words) < _FEW:
        accented = sum(not word.isascii() for word in words)
        single = found == 1 and (accented or len(words) <= 4)
        mostly = accented >= max(2, len(words) / 3)
        enough = found >= 2 or (english == 0 and (single or mostly))
        return best if enough and found > english else ENGLISH
    return best if found >= max(_SHARE * len(words), _AGAINST * english) else ENGLISH


def language_name(code: str) -> str:
    """Return what a language is called in English."""
    return NAMES.get(code, code)


def _sampled(text: str) -> str:
    """Return a text, or of a long one its beginning, its middle and its end."""
    if len(text) <= 3 * _SAMPLE:
        return text
    middle = len(text) // 2
    return "\n".join((text[:_SAMPLE], text[middle : middle + _SAMPLE], text[-_SAMPLE:]))


def _of_script(text: str) -> str | None:
    """Return the language that the letters of a text say, None where they are Latin ones."""
    if text.isascii():
        return None
    letters = [c for c in text if c.isalpha()]
    found: Counter[str] = Counter()
    for character, count in Counter(letters).items():
        if not character.isascii():
            name = unicodedata.name(character, "")
            script = next((code for begin, code in _SCRIPTS if name.startswith(begin)), None)
            if script is not None:
                found[script] += count
    if not found or found.total() < _FOREIGN * len(letters):
        return None
    if found["ja"] >= 0.05 * found.total():
        return "ja"  # which has Chinese letters, too
    return found.most_common(1)[0][0]
