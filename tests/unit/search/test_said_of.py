"""A word counts as met where it is said of what the query asks it of."""

import pytest

from abstrag import AbstRAG
from abstrag.documents.load import load_bytes
from abstrag.engine.searcher import Searcher
from abstrag.indexing.pipeline import index
from abstrag.model.ranking import Hit, WordTrace
from abstrag.search.relevance import ALIGNED, GENERAL
from abstrag.search.said_of import asked_of
from abstrag.search.told_events import one_event

# Verbs of events: WordNet's word counts for the very thing that is asked about.


@pytest.mark.parametrize(
    ("asked", "told"),
    [("reject", "dismiss"), ("destroy", "level"), ("grade", "mark"), ("die", "kill")],
)
def test_a_synonym_a_narrower_verb_and_an_effect_are_one_event(asked: str, told: str) -> None:
    assert one_event(asked, told)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("increase", "decrease"),
        ("reject", "accept"),
        ("reject", "hear"),
        ("draw", "pass"),  # they share a rare sense
        ("convey", "mean"),  # which defines, and tells of nothing
        ("discard", "remove"),  # which tells of much else
    ],
)
def test_opposites_and_strangers_are_not(asked: str, told: str) -> None:
    assert not one_event(asked, told)


def step(text: str, query: str, word: str) -> str:
    """Return the word that meets a word of a query in the first hit, "" where none does."""
    made = index(load_bytes(text.encode(), name="told.txt"))
    hits = Searcher(made, preset=GENERAL).search(query).hits
    if not hits:
        return ""
    hit = hits[0]
    return next(w.said for w in hit.words if w.asked == word) if _met(hit.words, word) else ""


def _met(words: tuple[WordTrace, ...], word: str) -> bool:
    return any(w.asked == word and w.met for w in words)


def test_an_idiom_keeps_the_senses_it_has_as_a_verb() -> None:
    text = "The landlord caved in on the rent.\n\nThe cliff at the mill caved in."
    assert step(text, "Which cliff collapsed?", "collapsed") == "caved"


def test_a_title_ends_no_sentence() -> None:
    text = "Dr. Okafor translated the manual for Dr. Ames into Welsh."
    assert step(text, "Who rendered the manual for Ames?", "rendered") == "translated"


def test_where_nothing_else_is_named_a_verb_must_be_near() -> None:
    text = "Sister Agathe found a hedgehog in the linen."
    assert step(text, "Who has recovered?", "recovered") == ""


def test_what_is_asked_about_stands_in_the_sentence_that_tells_of_the_event() -> None:
    query = "Who destroyed the greenhouse at half-term?"
    assert step("Vandals smashed the greenhouse at half-term.", query, "destroyed") == "smashed"


def test_a_word_that_is_asked_for_does_not_meet_another_word_too() -> None:
    said = "This Agreement binds both parties to the fact."
    assert step(said, "Was the fact of the Agreement agreed?", "agreed") == ""


def test_verbs_that_a_list_has_together_meet_where_the_same_party_takes_part() -> None:
    text = "In October the anaesthetists halved the dose of ketamine. Bread was served."
    assert step(text, "Which dose was reduced in October?", "reduced") == "halved"
    assert step(text, "Which bread was reduced in October?", "reduced") == ""


def test_what_stands_behind_an_idiom_is_what_it_is_said_of() -> None:
    text = "The lawyers of both sides split hairs about the word for two afternoons."
    hit = first(text, "Who quibbled about a word?")
    assert met(hit, "quibble")


def test_the_parties_of_an_idiom_need_not_be_those_of_the_question() -> None:
    text = "The pupils' team bit off more than it could chew against the firemen."
    hit = first(text, "Who attempted too much?")
    assert met(hit, "attempted too much")


def test_an_idiom_of_the_question_meets_another_of_the_text() -> None:
    text = "The mobile team dropped the ball on the certificates."
    hit = first(text, "Which team made a mistake with the certificates?")
    assert met(hit, "made a mistake")


def test_a_member_of_staff_is_an_employee() -> None:
    hit = first("The ward pharmacist, Lucia Brandt, plays chess.", "Which member of staff plays?")
    assert met(hit, "member of staff")


def test_a_participle_that_was_parsed_as_a_noun_asks_for_its_verb() -> None:
    text = "The ice above the pass has drawn back by forty metres."
    assert met(first(text, "By how much has the ice shrunk?"), "shrunk")


MORTALITY = "Sepsis mortality stayed the same, whereas incidence per claims increased."


def first(text: str, query: str) -> Hit:
    """Return the first hit, by the prices of words alone."""
    made = index(load_bytes(text.encode(), name="said.txt"))
    return Searcher(made, preset=ALIGNED).search(query).hits[0]


def met(hit: Hit, label: str) -> bool:
    """Tell whether a word, or the condition it makes, is shown as met."""
    words = [word.met for word in hit.words if word.asked == label]
    literals = [t.met for t in hit.trace.literals if t.literal.label == label]
    assert words or literals
    return any(words) or any(literals)


@pytest.mark.parametrize(
    ("text", "query", "word"),
    [
        (MORTALITY, "Has sepsis mortality risen?", "risen"),
        (
            "The drug decreased pain in patients with resistance.",
            "The drug reduces resistance.",
            "reduces",
        ),
        (
            "The obligations under this Agreement shall terminate after ten years.",
            "What follows the termination of the Agreement?",
            "termination",
        ),
        (
            "Gating of cell division was studied, and cell division is a cycle.",
            "Cellular clocks are associated with timing.",
            "Cellular",
        ),
        (
            "The cost matrix is read before the calculation.",
            "How costly is the calculation?",
            "costly",
        ),
        ("The $104 million increase was due to fuel.", "Why did inventories grow?", "grow"),
        ("After each round the threshold is lowered.", "How is the space decreased?", "decreased"),
        ("In addition to the stalls, the square has a well.", "What does a well add?", "add"),
    ],
)
def test_a_word_said_of_something_else_meets_nothing(text: str, query: str, word: str) -> None:
    assert not met(first(text, query), word)


@pytest.mark.parametrize(
    ("text", "query", "word"),
    [
        ("Sepsis mortality increased in both years.", "Has sepsis mortality risen?", "risen"),
        ("The drug decreased resistance.", "The drug reduces resistance.", "reduces"),
        ("Inhibition of the gene led to a reduction of fat.", "It reduces fat.", "reduces"),
        (
            "This Agreement terminates after ten years.",
            "What follows the termination of the Agreement?",
            "termination",
        ),
        (
            "Some expenses increased. Compared with sales, expenses decreased.",
            "Did costs shrink?",
            "shrink",
        ),
    ],
)
def test_one_said_of_the_same_or_of_nothing_in_particular_does(
    text: str, query: str, word: str
) -> None:
    assert met(first(text, query), word)


def test_a_party_that_goes_by_an_alias_is_the_one_that_is_asked_about() -> None:
    text = """
The Harbour Ferry Company (HFC) runs six boats between the islands.
This Tuesday HFC purchased Tarn Marine, a shipyard in the north.
"""
    with AbstRAG.from_text(text, date="2024-03-14", preset=ALIGNED.name) as rag:
        hit = rag.search("Which shipyard did the Harbour Ferry Company acquire?").hits[0]
    assert met(hit, "acquire")


def test_what_is_not_met_is_named_as_the_nearest() -> None:
    reading = first(MORTALITY, "Has sepsis mortality risen?").reading
    assert "nothing in it meets “risen” (nearest: “increased”)" in reading


def test_a_question_says_what_its_words_are_asked_of() -> None:
    text = "Sympathetic activity is not reduced by early screening."
    words = ["Sympathetic", "activity", "not", "reduced", "early", "screening"]
    spans = tuple((text.index(word), text.index(word) + len(word)) for word in words)
    found = asked_of(text, spans)
    assert found[3].things == (1,)
    assert found[3].around == (0,)
    assert found[3].suffered
    assert found[2].denied == (3,)
    assert found[4].modified == (5,)


def test_a_verb_is_asked_with_all_that_stands_beside_it_in_the_query() -> None:
    text = "Who was thrown out of the lower wing?"
    words = ["thrown", "out", "lower", "wing"]
    spans = tuple((text.index(word), text.index(word) + len(word)) for word in words)
    found = asked_of(text, spans)
    assert found[0].verb
    assert found[0].along == (3,)  # "out" says nothing by itself
    assert found[3].along == (0, 2)


def test_a_verb_counts_where_something_that_is_asked_with_it_stands_in_its_sentence() -> None:
    text = "The council evicted a family from the lower wing. It was sold."
    assert met(first(text, "Who was thrown out of the lower wing?"), "thrown out")
    rewritten = "Debian rebuilt these services on another host."
    assert step(rewritten, "Which installer was rewritten?", "rewritten") == ""
    assert step("Debian rebuilt the installer.", "Which installer was rewritten?", "rewritten")


def test_a_form_of_the_asked_verb_counts_wherever_it_stands() -> None:
    text = "The evaluation is described in the last part."
    assert step(text, "How were the parsers evaluated?", "evaluated") == "evaluation"


def test_a_number_is_not_met_by_the_word_before_it() -> None:
    hit = first("The test finds lesions of high grade early.", "Which lesions are of grade 2?")
    assert not met(hit, "2")


def test_a_code_is_not_met_by_the_letters_of_another() -> None:
    query = "Does IL-80 rise?"
    other = first("Levels of IL-6 rise early.", query)
    own = first("Levels of IL-80 rise early.", query)
    code = [[word.met for word in hit.words if word.asked in ("IL", "80")] for hit in (other, own)]
    assert code == [[False, False], [True, True]]


def test_who_bought_is_not_what_was_bought() -> None:
    text = "Alder Holdings Inc. purchased the mill in May."
    assert not met(first(text, "Which companies did the bank purchase?"), "companies")
    assert met(first(text, "Which companies purchased a mill?"), "company")


def test_what_a_query_names_as_another_party_is_not_what_it_wants() -> None:
    text = "The style of Monaco Ltd. came from Giotto."
    assert not met(first(text, "Monaco Ltd. was influenced by which company?"), "company")


def test_a_word_of_a_name_tells_of_no_event() -> None:
    text = "The sign stands at Tower Buildings in the town."
    assert not met(first(text, "Which town was the tower built in?"), "built")


def test_one_word_in_two_encodings_is_the_same() -> None:
    hit = first("Francois was taught by Franc\u0327ois Truffaut.", "Who knew Fran\u00e7ois?")
    assert [w.price for w in hit.words if w.asked == "Fran\u00e7ois"] == [0.0]


def test_a_term_that_a_query_writes_large_is_no_word_in_small_letters() -> None:
    text = "Each of the parties agrees that it will not use the drawings."
    assert not met(first(text, "Drawings may be used under the Agreement."), "Agreement")
    assert met(first(text, "Drawings may be used as agreed."), "agreed")


def test_what_is_asked_for_itself_is_no_kind_of_something_else_that_is_asked() -> None:
    hit = first("It is not a public holiday.", "Is the day a public holiday?")
    assert met(hit, "public holiday")
    assert not met(hit, "day")


def test_a_name_is_not_met_by_a_verb_that_its_word_is_derived_from() -> None:
    agrees = "You and the Company also each agree that nobody shall disclose the fact to others."
    text = f"{agrees}\n\nThis Agreement is short. An oral agreement is void.\n\n"
    text += "The parties signed the Agreement."
    hit = first(text, "Nobody shall disclose the fact that Agreement was negotiated.")
    assert hit.quote == agrees
    assert not met(hit, "Agreement")


@pytest.mark.parametrize(
    ("text", "query", "word"),
    [
        (
            "# Mouse\n\nYou should use a terminal that knows coordinates for the mouse.\n",
            "Can the mouse be employed?",
            "employed",
        ),
        (
            "# How can I tweak the client to consume less memory?\n\n"
            "Reduce value of the option for long buffers.\n",
            "How can memory consumption be lowered?",
            "lowered",
        ),
        ("Jim Gray studied the performance of files.", "Which systems were examined?", "examined"),
        (
            "The measurements were made in June using a version of SQLite.",
            "When were the trials carried out?",
            "carried",
        ),
        (
            "The machine was found late. No doubt was left that the machine was compromised.",
            "Which hints reveal that a machine was hacked?",
            "reveal",
        ),
    ],
)
def test_an_event_of_parties_that_are_not_asked_about_meets_no_other_verb(
    text: str, query: str, word: str
) -> None:
    made = index(load_bytes(text.encode(), name="said.md"))
    own = [hit for hit in Searcher(made, preset=ALIGNED).search(query).hits if hit.words]
    assert not any(w.met for hit in own for w in hit.words if w.asked == word)


@pytest.mark.parametrize(
    ("text", "query", "word"),
    [
        (
            "Any modified files must carry a notice that you changed the files.",
            "Must altered files carry a notice?",
            "altered",
        ),
        (
            "The project uses Fossil for its code.",
            "Which system does the project employ?",
            "employ",
        ),
        ("The council evicted a family from the lower wing.", "Who was thrown out?", "thrown out"),
    ],
)
def test_what_is_asked_for_and_a_word_of_one_phrase_may_be_what_an_event_is_told_of(
    text: str, query: str, word: str
) -> None:
    assert met(first(text, query), word)


def test_what_something_is_compared_with_is_not_said_to_be_so() -> None:
    text = "Reading is faster than writing on all systems."
    assert not met(first(text, "Is writing quicker as well?"), "quicker")
    assert met(first(text, "Is reading quicker?"), "quicker")
    assert met(first(text, "Is reading quicker than writing?"), "quicker")


def test_of_two_offices_that_are_asked_for_none_stands_for_the_other() -> None:
    text = "It may be shown to the consultants of the firm."
    hit = first(text, "May it be shown to consultants and advisors of the firm?")
    assert met(hit, "consultant")
    assert not met(hit, "advisor")
