"""What common nouns tell about the thing they name: person or not, one or many, he or she."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

MEN: Final = frozenset(
    """man boy father son brother husband uncle nephew grandfather king prince duke lord gentleman
    chairman spokesman businessman congressman policeman salesman actor waiter monk priest pope
    widower groom emperor""".split()
)
WOMEN: Final = frozenset(
    """woman girl mother daughter sister wife aunt niece grandmother queen princess duchess lady
    chairwoman spokeswoman businesswoman congresswoman policewoman actress waitress nun widow bride
    empress heroine""".split()
)
PEOPLE: Final = (
    MEN
    | WOMEN
    | frozenset(
        """person people individual child kid baby infant adult adolescent teenager human citizen
        resident inhabitant voter worker employee employer manager executive officer director
        president chairperson founder co-founder owner boss leader chief head minister premier
        chancellor governor mayor senator lawmaker politician diplomat ambassador judge lawyer
        attorney prosecutor defendant plaintiff witness suspect victim prisoner soldier general
        captain commander sergeant colonel author writer poet novelist journalist reporter editor
        critic scholar historian philosopher scientist researcher investigator physicist chemist
        biologist mathematician economist psychologist linguist engineer programmer developer
        designer architect artist painter sculptor musician singer composer conductor dancer
        director producer performer player athlete coach teammate quarterback striker goalkeeper
        teacher professor lecturer instructor tutor student pupil graduate trainee doctor physician
        surgeon nurse dentist therapist pharmacist patient participant subject volunteer respondent
        annotator speaker listener reader user customer client consumer buyer seller shareholder
        investor trader banker analyst consultant adviser advisor assistant secretary spokesperson
        representative delegate member colleague friend neighbour neighbor guest visitor tourist
        passenger driver pilot farmer baker cook chef clerk carer caregiver parent sibling cousin
        spouse partner grandchild heir successor predecessor bishop archbishop imam rabbi missionary
        explorer inventor pioneer hero rival opponent""".split()
    )
)
GROUPS: Final = frozenset(
    """team group family committee board crew staff police jury audience crowd public band
    orchestra choir army navy squad couple pair majority minority government company firm party
    union council club class population""".split()
)
MOMENTS: Final = frozenset(
    """second minute hour day night week weekend month quarter season year decade century era period
    time moment date morning afternoon evening today yesterday tomorrow spring summer autumn winter
    way case fact example instance addition contrast order result particular general turn part
    place""".split()
)

# Nouns that papers and filings use for so many things that they single out none.
VAGUE: Final = frozenset(
    """model system method approach algorithm function output input result data dataset value
    feature accuracy task problem policy network layer vector framework technique process paper work
    study parameter architecture baseline corpus test set score metric measure example case term
    type form part area name word number level rate section table figure way state change effect use
    group member one other agreement information product service plan program project
    report transaction disclosure date period""".split()
)
# Head nouns that may stand for any entity of a label, for instance "the company" for an ORG.
TYPICAL: Final = MappingProxyType(
    {
        "ORG": frozenset(
            """company firm corporation organization organisation agency conglomerate
            enterprise""".split()
        ),
        "PERSON": frozenset({"man", "woman", "executive"}),
    }
)
ORGANIZATIONS: Final = TYPICAL["ORG"] | frozenset(
    """startup start-up maker chipmaker carmaker automaker drugmaker bank insurer lender retailer
    publisher airline supplier manufacturer vendor broadcaster brewer consultancy""".split()
)
# Verbs whose subject decides, trades or employs: a person, an organization or a country.
AGENTIVE: Final = frozenset(
    """announce want hope plan intend decide agree refuse deny admit promise urge demand accuse sue
    hire employ appoint fire recruit acquire buy purchase sell own invest donate negotiate vote
    resign retire apologize""".split()
)
