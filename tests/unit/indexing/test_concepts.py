from dataclasses import replace

import pytest

from abstrag.config import DELTA_ABS_ONE_WAY, MIN_ANCESTOR_DEPTH, OMEGA
from abstrag.indexing.concepts import AbstractConcepts
from abstrag.indexing.layers import Concepts
from abstrag.indexing.operator import IndexDraft
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.document import Quote, Span
from abstrag.model.term import Edge, Family, LicenceKind, Relation
from tests.unit.indexing.readied import readied

EXAMPLE = "The CTO of Anthropic visited the head of TSMC's 3 nm fabrication division this Tuesday."


def abstracted(draft: IndexDraft, operator: AbstractConcepts | None = None) -> Concepts:
    layer = (operator or AbstractConcepts())(draft).concepts
    assert layer is not None
    return layer


def edges(layer: Concepts, source: str, kind: LicenceKind | None = None) -> dict[str, Edge]:
    return {
        e.target: e
        for e in layer.edges
        if e.source == source and (kind is None or e.licence.kind is kind)
    }


def surfaces(layer: Concepts, draft: IndexDraft) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for m in layer.mentions:
        found.setdefault(m.term, set()).add(draft.segments[m.segment].text[m.start : m.end])
    return found


@pytest.fixture(scope="module")
def example() -> tuple[IndexDraft, Concepts]:
    draft = readied(
        f"{EXAMPLE} Anthropic, an AI company, bought chips.",
        names=("Anthropic", "TSMC"),
        times=("this Tuesday",),
    )
    return draft, abstracted(draft)


# --- Terms ----------------------------------------------------------------------------------------


def test_nouns_adjectives_and_phrases_become_terms_where_they_stand() -> None:
    draft = readied("The largest chip suppliers met suppliers.")
    found = surfaces(abstracted(draft), draft)
    assert found["concept:supplier"] == {"suppliers"}
    assert found["concept:chip supplier"] == {"chip suppliers"}
    assert found["concept:largest chip supplier"] == {"largest chip suppliers"}
    assert found["concept:large"] == {"largest"}
    assert "concept:chip" in found


def test_stop_words_pronouns_times_and_names_become_no_concepts() -> None:
    draft = readied(
        "They met Anthropic and other firms last year.", names=("Anthropic",), times=("last year",)
    )
    assert set(surfaces(abstracted(draft), draft)) == {"concept:firm"}


def test_common_words_inside_a_name_stay_concepts() -> None:
    draft = readied(
        "They sued the chip supplier of Anthropic.", names=("chip supplier of Anthropic",)
    )
    found = surfaces(abstracted(draft), draft)
    assert {"concept:chip", "concept:supplier", "concept:chip supplier"} <= set(found)
    assert "concept:anthropic" not in found


def test_a_proper_noun_that_is_no_entity_is_a_concept() -> None:
    draft = readied("They trained Zorbex on text.")
    assert surfaces(abstracted(draft), draft)["concept:zorbex"] == {"Zorbex"}


def test_headers_of_a_cell_are_read_too() -> None:
    draft = readied("The price was 12 dollars.")
    assert draft.segmented is not None
    (segment,) = draft.segments
    header = Quote("Chip suppliers", Span(0, 3))
    cell = replace(segment, headers=(header,))
    layer = abstracted(draft.with_(segmented=replace(draft.segmented, segments=(cell,))))
    (mention,) = [m for m in layer.mentions if m.term == "concept:chip supplier"]
    assert (mention.header, mention.start, mention.end) == (0, 0, len("Chip suppliers"))


def test_quantities_become_terms_with_their_value() -> None:
    draft = readied("The wafer weighs 53 kg.")
    (term,) = [t for t in abstracted(draft).terms if t.quantity is not None]
    assert term.quantity is not None
    assert (term.id, term.quantity.value, term.quantity.unit) == ("quantity:53 kg", 53.0, "kg")


def test_nothing_is_left_to_chance() -> None:
    draft = readied(EXAMPLE, names=("Anthropic", "TSMC"))
    assert abstracted(draft) == abstracted(draft)


# --- WordNet --------------------------------------------------------------------------------------


def test_synonyms_share_a_sense_at_no_distance() -> None:
    layer = abstracted(readied("A car met an automobile."))
    for word in ("car", "automobile"):
        edge = edges(layer, f"concept:{word}")["concept:car.n.01"]
        assert (edge.weight, edge.distance) == (OMEGA["concept"], 0.0)
        assert not edge.truth_preserving
        assert edge.licence.reference == "WordNet car.n.01"
        assert edge.relation is Relation.IMPLIES


def test_ancestors_cost_their_wu_palmer_distance_and_the_general_ones_are_left_out() -> None:
    net = wordnet()
    layer = abstracted(readied("A car."))
    up = edges(layer, "concept:car")
    car, vehicle = net.synset("car.n.01"), net.synset("vehicle.n.01")
    expected = round(1 - net.wup(car, vehicle) + DELTA_ABS_ONE_WAY, 4)
    assert up["concept:vehicle.n.01"].distance == expected
    assert "concept:entity.n.01" not in up
    reached = [net.synset(target.partition(":")[2]) for target in up]
    assert all(net.depth(s) >= MIN_ANCESTOR_DEPTH for s in reached)


def test_every_sense_an_edge_reaches_is_a_term_with_its_first_word_as_label() -> None:
    layer = abstracted(readied("A car and a happy dog."))
    labels = {t.id: t.label for t in layer.terms}
    assert all(e.source in labels and e.target in labels for e in layer.edges)
    assert labels["concept:motor_vehicle.n.01"] == "motor vehicle"


def test_the_document_decides_between_senses_that_are_about_as_frequent() -> None:
    birds = abstracted(readied("The crane is near the heron, the stork and the flamingo."))
    tools = abstracted(readied("The crane is near the winch, the hoist and the forklift."))
    assert "concept:bird.n.01" in edges(birds, "concept:crane")
    assert "concept:lifting_device.n.01" in edges(tools, "concept:crane")


def test_a_sense_that_has_rivals_is_less_sure() -> None:
    layer = abstracted(readied("A bank near a giraffe."))
    (bank,) = [e for t, e in edges(layer, "concept:bank").items() if e.distance == 0]
    (giraffe,) = [e for t, e in edges(layer, "concept:giraffe").items() if e.distance == 0]
    assert bank.confidence < giraffe.confidence == 1.0


def test_adjectives_go_to_their_sense_only() -> None:
    up = edges(abstracted(readied("A happy giraffe.")), "concept:happy")
    (target,) = up
    assert wordnet().name(wordnet().synsets("happy", Pos.ADJECTIVE)[0]) in target


def test_a_phrase_wordnet_knows_has_a_sense_of_its_own() -> None:
    layer = abstracted(readied("They use a neural network and a wafer thing."))
    assert "concept:neural_network.n.01" in edges(layer, "concept:neural network")
    assert edges(layer, "concept:wafer thing") == {}


# --- What text and Background state ---------------------------------------------------------------


def test_a_stated_class_is_free_and_quotes_its_licence(
    example: tuple[IndexDraft, Concepts],
) -> None:
    draft, layer = example
    edge = edges(layer, "entity:anthropic")["concept:ai company"]
    assert edge.truth_preserving
    assert edge.cost == 0
    assert edge.relation is Relation.IMPLIES
    assert edge.confidence < 1
    assert edge.licence.kind is LicenceKind.TEXT
    assert edge.licence.span is not None
    assert draft.document.quote(edge.licence.span) == "Anthropic, an AI company"


def test_a_stated_class_holds_without_its_modifiers_too(
    example: tuple[IndexDraft, Concepts],
) -> None:
    whole = edges(example[1], "entity:anthropic")["concept:ai company"]
    head = edges(example[1], "entity:anthropic")["concept:company"]
    assert head.truth_preserving
    assert head.confidence < whole.confidence


def test_a_class_never_leads_back_to_its_member(example: tuple[IndexDraft, Concepts]) -> None:
    assert "entity:anthropic" not in {e.target for e in example[1].edges}


def test_a_person_described_by_an_office_has_that_role() -> None:
    draft = readied("Ada Brown, the CTO of Anthropic, resigned.", names=("Ada Brown", "Anthropic"))
    up = edges(abstracted(draft), "entity:ada brown", LicenceKind.TEXT)
    assert {"role:cto", "role:cto of anthropic"} <= set(up)


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("The reeve of Upper Vell, Anselm Kroll, spoke in May.", "role:reeve"),
        ("Mr. Kroll is our guest. He is the reeve of Upper Vell, Anselm Kroll, he said.", None),
        ("Vellmark is the brand of Acme Holdings, John Smith, the founder, said in May.", None),
    ],
)
def test_a_noun_in_the_place_of_an_office_is_one_and_every_edge_has_its_ends(
    text: str, role: str | None
) -> None:
    layer = abstracted(readied(text))
    ids = {term.id for term in layer.terms}
    assert {end for edge in layer.edges for end in (edge.source, edge.target)} <= ids
    assert ("role:brand" in ids, "role:reeve" in ids) == (False, role is not None)


def test_background_classes_are_free_for_things_the_document_mentions() -> None:
    operator = AbstractConcepts(
        classes=(
            ("Anthropic", ("LLM companies",)),
            ("Nowhere Inc", ("ghosts",)),
            ("Wafers", ("chip part",)),
        ),
        background="tech.toml",
    )
    draft = readied("Anthropic bought a wafer.", names=("Anthropic",))
    layer = abstracted(draft, operator)
    known = [e for e in layer.edges if e.licence.kind is LicenceKind.BACKGROUND]
    assert [(e.source, e.target) for e in known] == [
        ("concept:wafer", "concept:chip part"),
        ("entity:anthropic", "concept:llm company"),
    ]
    assert all(e.truth_preserving and e.licence.span is None for e in known)
    assert known[1].licence.reference == "tech.toml: classes.Anthropic"


# --- Roles and offices ----------------------------------------------------------------------------


def test_a_role_leads_to_its_types_at_a_price(example: tuple[IndexDraft, Concepts]) -> None:
    up = edges(example[1], "role:cto")
    assert {"role:executive", "role:manager"} <= set(up)
    assert up["role:executive"].family is Family.CONCEPT
    assert up["role:executive"].cost == pytest.approx(0.65 + 0.30 + 0.15)
    assert up["role:executive"].licence.kind is LicenceKind.LEXICON


def test_wordnet_measures_roles_it_knows_as_people() -> None:
    up = edges(abstracted(readied("The surgeon slept.")), "role:surgeon")
    net = wordnet()
    near = net.wup(net.synset("surgeon.n.01"), net.synset("doctor.n.01"))
    assert up["role:physician"].distance == round(1 - near + DELTA_ABS_ONE_WAY, 4)


def test_full_form_and_acronym_are_one_role() -> None:
    draft = readied("The CTO met the chief technology officer.")
    found = surfaces(abstracted(draft), draft)
    assert found["role:cto"] == {"CTO", "chief technology officer"}


def test_background_roles_are_free() -> None:
    operator = AbstractConcepts(roles=(("CTO", ("tech executive",)), ("site lead", ("manager",))))
    layer = abstracted(readied("The CTO met a site lead."), operator)
    for source, target in (("cto", "tech executive"), ("site lead", "manager")):
        edge = edges(layer, f"role:{source}", LicenceKind.BACKGROUND)[f"role:{target}"]
        assert edge.truth_preserving
    assert "background: roles.CTO" in {e.licence.reference for e in layer.edges}


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("The CTO of Anthropic visited Taipei.", "CTO of Anthropic"),
        ("They saw Anthropic's new CTO.", "Anthropic's new CTO"),
        ("The Anthropic CTO visited Taipei.", "Anthropic CTO"),
        (
            "The chief technology officer at Anthropic left.",
            "chief technology officer at Anthropic",
        ),
    ],
)
def test_an_office_is_one_term_however_it_is_worded(text: str, quote: str) -> None:
    draft = readied(text, names=("Anthropic",))
    assert surfaces(abstracted(draft), draft)["role:cto of anthropic"] == {quote}


def test_an_office_speaks_for_the_class_of_its_organization(
    example: tuple[IndexDraft, Concepts],
) -> None:
    up = edges(example[1], "role:cto of anthropic")
    known, guessed = up["role:ai company representative"], up["role:company representative"]
    assert known.family is Family.INTENT
    assert known.cost == pytest.approx(0.90 + 0.40)
    assert guessed.cost == pytest.approx(0.90 + 0.40 + 0.20)
    assert known.confidence > guessed.confidence
    assert up["role:cto"].truth_preserving
    draft = example[0]
    assert known.licence.span is not None
    assert draft.document.quote(known.licence.span) == "CTO of Anthropic"


def test_the_head_of_a_division_is_no_head_of_the_company(
    example: tuple[IndexDraft, Concepts],
) -> None:
    held = "role:head of tsmc's 3 nm fabrication division"
    up = edges(example[1], held)
    assert "role:organization representative" in up
    assert "role:head of tsmc" not in {t.id for t in example[1].terms}


def test_people_who_speak_for_nobody_hold_no_office() -> None:
    layer = abstracted(readied("A patient of Anthropic slept.", names=("Anthropic",)))
    assert {t.id for t in layer.terms if t.id.startswith("role:")} == {"role:patient"}


def test_a_name_nobody_recognised_is_still_a_term_when_the_text_classifies_it() -> None:
    draft = readied("The loop binds a conserved helical region, P4, of the enzyme.")
    layer = abstracted(draft)
    assert draft.entities is not None
    known = {t.id for t in (*layer.terms, *draft.entities.terms)}
    assert "concept:p4" in {e.source for e in layer.edges}
    assert {x for e in layer.edges for x in (e.source, e.target)} <= known


def test_a_list_only_suggests_a_class_and_a_predicate_states_it() -> None:
    draft = readied("Managers and other employees met. A manager is a leader.")
    found = edges(abstracted(draft), "concept:manager", LicenceKind.TEXT)
    assert not found["concept:employee"].truth_preserving
    assert found["concept:employee"].cost > 0
    assert found["concept:leader"].cost == 0


def test_a_name_that_a_background_classifies_need_not_be_seen_by_the_parser() -> None:
    draft = readied("Old Thunderer smoked all night.")
    layer = abstracted(draft, AbstractConcepts(classes=(("Old Thunderer", ("volcano",)),)))
    assert "concept:volcano" in edges(layer, "entity:old thunderer", LicenceKind.BACKGROUND)
    assert surfaces(layer, draft)["entity:old thunderer"] == {"Old Thunderer"}
    assert "entity:old thunderer" not in {term.id for term in abstracted(draft).terms}
