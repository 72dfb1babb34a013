"""Agreement: which pronouns may stand for a name or a noun."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from enum import Flag, auto
from typing import TYPE_CHECKING, Final

from abstrag.indexing.naming.mentions import UNLABELLED, PlacedName
from abstrag.language.nouns import GROUPS, MEN, PEOPLE, WOMEN
from abstrag.language.persons import Gender, gender_of, person_name

if TYPE_CHECKING:
    from spacy.tokens import Token


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


class Cast:
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


def fits_noun(root: Token) -> tuple[Fits, Fits]:
    """Say which pronouns can stand for a common noun, and which might for all we know."""
    word = root.lemma_.lower()
    unknown = Fits.ALL if root.pos_ == "PROPN" else Fits.NONE
    if root.tag_ in ("NNS", "NNPS"):
        return Fits.THEY, unknown
    if word in PEOPLE:
        gender = Fits.HE if word in MEN else Fits.SHE if word in WOMEN else Fits.PERSON
        return gender, Fits.THEY
    return Fits.IT | Fits.THEY if word in GROUPS else Fits.IT, unknown
