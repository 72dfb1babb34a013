"""The four baselines that ask a model: what they do with its replies, and how often they ask."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from abstrag.errors import BadReply, InputError, NeedsModel
from abstrag.llm.budget import tokens_in
from abstrag.llm.connect import Models
from abstrag.llm.model import CallRole, ModelRequest
from abstrag.llm.scripted import ScriptedModel
from abstrag.neural.encoder import Vectors
from abstrag.policy.load import load_programs
from abstrag_bench.baselines.backing import BATCH, CALLS, Backing, ModelSystem, longest
from abstrag_bench.baselines.bm25 import Bm25
from abstrag_bench.baselines.crag import LOWER, SEARCH_CALLS, UPPER, Crag
from abstrag_bench.baselines.dense import Dense
from abstrag_bench.baselines.hyde import Hyde
from abstrag_bench.baselines.ircot import MOST_PASSAGES, PER_STEP, Ircot
from abstrag_bench.baselines.registry import BASELINES, build_baseline
from abstrag_bench.baselines.self_rag import SelfRag
from abstrag_bench.baselines.system import (
    Element,
    Explained,
    Pool,
    System,
    VersionedSystem,
    WritingSystem,
    Written,
)

WORDS = ("lion", "shark", "seal", "museum", "spring", "shade", "coast", "ticket")
TEXTS = (
    "A lion sleeps in the shade.",
    "A shark hunts a seal.",
    "The coast is far from the shade.",
    "The museum opened in spring.",
    "A ticket to the museum is cheap.",
    "Nothing of note. The seal is at the coast. Nothing else.",
)
POOL = Pool("zoo", "The zoo", tuple(Element(str(i), text) for i, text in enumerate(TEXTS)))
ASKING = ("hyde", "ircot", "self-rag", "crag")


class Counted:
    """An encoder that counts some words."""

    fingerprint = "counted"

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = [[text.casefold().count(word) + 0.01 for word in WORDS] for text in texts]
        made = np.array(rows, dtype=np.float32).reshape(-1, len(WORDS))
        normal: Vectors = made / np.linalg.norm(made, axis=1, keepdims=True)
        return normal


def backing(replies: Mapping[str, Any]) -> tuple[Backing, ScriptedModel]:
    model = ScriptedModel(replies)
    return Backing(Models.of(model), load_programs()), model


def inputs(request: ModelRequest) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(request.user.removeprefix("<data>").removesuffix("</data>"))
    return told


def names(system: System, query: str, k: int = 6) -> list[str]:
    return [name for name, _ in system.search(query, k)]


def dense() -> Dense:
    return Dense(Counted())


def test_hyde_searches_with_what_it_invents() -> None:
    given, model = backing({"hyde": {"passage": "The museum has a ticket in spring."}})
    system = Hyde(given, dense())
    plain = dense()
    for one in (system, plain):
        one.index(POOL)
    assert names(plain, "lion")[0] == "0"
    assert set(names(system, "lion", 2)) == {"3", "4"}
    assert model.calls == CALLS
    assert {request.sample for request in model.requests} == set(range(CALLS))
    assert inputs(model.requests[0]) == {"query": "lion", "document": "The zoo"}


def test_hyde_ranks_as_the_mean_of_the_embeddings_does() -> None:
    given, _ = backing({"hyde": {"passage": "A shark and a museum at the coast."}})
    system = Hyde(given, dense(), calls=2)
    system.index(POOL)
    told = Counted().embed(["lion", *["A shark and a museum at the coast."] * 2])
    mean = told.mean(axis=0)
    cosines = Counted().embed(TEXTS) @ (mean / np.linalg.norm(mean))
    assert names(system, "lion") == [str(i) for i in np.argsort(-cosines, kind="stable")]


def test_an_empty_invention_leaves_the_query_alone() -> None:
    given, _ = backing({"hyde": {"passage": "  "}})
    system = Hyde(given, dense())
    system.index(POOL)
    assert names(system, "lion")[0] == "0"


def step(query: str, *, done: bool = False) -> dict[str, Any]:
    return {"thought": f"Now {query}.", "query": query, "done": done}


def test_ircot_follows_its_thoughts_and_keeps_the_order_of_finding() -> None:
    replies = iter([step("museum"), step("", done=True)])
    given, model = backing({"ircot": lambda _: next(replies)})
    system = Ircot(given, per_step=1)
    system.index(POOL)
    ranked, told = system.search_explained("lion", 6)
    assert [name for name, _ in ranked][:2] == ["0", "3"]
    assert len(ranked) == 6
    assert told["llm_calls"] == model.calls == 2
    assert inputs(model.requests[1])["thoughts"] == ["Now museum."]
    assert len(inputs(model.requests[1])["passages"]) == 2


def test_ircot_stops_when_its_budget_is_spent() -> None:
    given, model = backing({"ircot": step("shark")})
    system = Ircot(given, calls=3)
    system.index(POOL)
    system.search("lion", 5)
    assert model.calls == 3


def critique(**scores: str) -> Callable[[ModelRequest], Any]:
    """Reflect on passages by a word they hold; the rest is irrelevant."""

    def reply(request: ModelRequest) -> Any:
        told = []
        for one in inputs(request)["passages"]:
            found = [how for word, how in scores.items() if word in one["text"]]
            told.append(
                {
                    "passage": one["passage"],
                    "is_relevant": bool(found),
                    "is_supported": found[0] if found else "no",
                }
            )
        return {"should_retrieve": False, "passages": told, "follow_up": ""}

    return reply


def test_self_rag_ranks_by_reflection() -> None:
    given, _ = backing({"self_rag": critique(seal="partially", ticket="fully")})
    system = SelfRag(given, dense())
    system.index(POOL)
    ranked = system.search("lion shade", 6)
    assert [name for name, _ in ranked[:3]] == ["4", "1", "5"]
    assert [score for _, score in ranked[:4]] == [2.0, 1.5, 1.5, 0.0]
    assert ranked[3][0] == "0"  # of equals, as they were retrieved


def test_self_rag_retrieves_again_until_it_has_enough_or_nothing_is_left() -> None:
    many = Pool("d", "d", tuple(Element(str(i), f"lion {i}") for i in range(25)))
    reply = {"should_retrieve": True, "passages": [], "follow_up": "other words"}
    given, model = backing({"self_rag": reply})
    system = SelfRag(given, Bm25(), calls=9)
    system.index(many)
    _, told = system.search_explained("lion", 10)
    shown = [len(inputs(request)["passages"]) for request in model.requests]
    assert shown == [BATCH, BATCH, 5]
    assert told["details"]["queries"] == ["lion", *["other words"] * 3]


def test_self_rag_writes_from_one_passage_at_a_time() -> None:
    given, _ = backing({})
    system = SelfRag(given, dense())
    system.index(POOL)
    seen: list[list[str]] = []

    def write(elements: Sequence[Element]) -> Written:
        seen.append([one.id for one in elements])
        return Written("yes", decided=elements[0].id == "1")

    made = system.write("q", [("0", 2.0), ("1", 1.0), ("2", 0.0)], 3, write)
    assert seen == [["0"], ["1"]]
    assert (made.decided, made.calls) == (True, 2)
    assert system.write("q", [], 3, write).calls == 0


def grades(request: ModelRequest, rewritten: str = "", **scores: float) -> Any:
    told = []
    for one in inputs(request)["passages"]:
        score = next((s for word, s in scores.items() if word in one["text"]), -1.0)
        grade = "correct" if score > 0 else "incorrect" if score < 0 else "ambiguous"
        told.append(
            {"passage": one["passage"], "grade": grade, "confidence": round(100 * abs(score))}
        )
    return {"grades": told, "rewritten_query": rewritten}


def big() -> Pool:
    fillers = tuple(Element(f"f{i}", f"lion filler {i}") for i in range(BATCH))
    return Pool("d", "d", (*fillers, Element("m", "the museum"), Element("t", "a ticket")))


def crag(reply: Callable[[ModelRequest], Any]) -> tuple[Crag, ScriptedModel]:
    given, model = backing({"crag": reply})
    system = Crag(given, Bm25())
    system.index(big())
    return system, model


def test_crag_keeps_the_first_search_when_something_is_correct() -> None:
    system, model = crag(lambda request: grades(request, "museum", **{"filler 7": UPPER}))
    ranked, told = system.search_explained("lion", 3)
    assert ranked[0][0] == "f7"
    assert (told["details"]["action"], model.calls) == ("correct", 1)


def test_crag_searches_the_document_again_when_all_is_incorrect() -> None:
    system, model = crag(lambda request: grades(request, "museum", museum=0.9))
    ranked, told = system.search_explained("lion", 12)
    assert ranked[0][0] == "m"
    assert told["details"] == {
        "action": "incorrect",
        "rewritten": "museum",
        "tokens_in": told["details"]["tokens_in"],
        "tokens_out": SEARCH_CALLS,
        "cost": 0.0,
    }
    assert [name for name, _ in ranked][2:] == [f"f{i}" for i in range(BATCH)]
    assert model.calls == SEARCH_CALLS


def test_crag_mixes_both_searches_when_it_cannot_tell() -> None:
    system, _ = crag(lambda request: grades(request, "ticket", **{"filler 2": 0.3, "ticket": 0.2}))
    ranked, told = system.search_explained("lion", 12)
    assert told["details"]["action"] == "ambiguous"
    assert [name for name, _ in ranked[:2]] == ["f2", "t"]
    assert LOWER < 0.3 < UPPER


def test_crag_writes_from_the_strips_that_matter() -> None:
    given, model = backing({"crag": lambda request: grades(request, seal=0.8)})
    system = Crag(given, dense())
    system.index(POOL)
    seen: list[Element] = []

    def write(elements: Sequence[Element]) -> Written:
        seen.extend(elements)
        return Written("yes", decided=True)

    made = system.write("q", [("5", 1.0), ("0", 0.5)], 3, write)
    assert [(one.id, one.text) for one in seen] == [("5", "The seal is at the coast.")]
    assert (made.calls, model.calls) == (2, 1)
    assert system.write("q", [("0", 1.0)], 3, write).calls == 1  # one strip is nothing to refine
    assert isinstance(system, WritingSystem)


@pytest.mark.parametrize("name", ASKING)
def test_each_is_a_system_with_a_budget_and_says_what_it_is(name: str) -> None:
    given, _ = backing({})
    system = build_baseline(name, None, given)
    assert system.name == name
    assert isinstance(system, Explained)
    assert isinstance(system, VersionedSystem)
    assert isinstance(system, ModelSystem)
    assert "as a prompt" in system.fidelity
    assert "document" in system.fidelity
    assert 1 <= len(system.worst("query", POOL)) <= CALLS


@pytest.mark.parametrize("name", ASKING)
def test_none_can_be_had_without_a_model(name: str) -> None:
    with pytest.raises(NeedsModel, match=f"'{name}' asks a language model") as raised:
        build_baseline(name)
    assert "--llm MODEL" in str(raised.value.hint)
    assert BASELINES[name].asks
    only_index = Backing(Models({}), load_programs())
    with pytest.raises(NeedsModel):
        _ = build_baseline(name, None, only_index).state  # type: ignore[attr-defined]


GREEDY: Mapping[str, Any] = {
    "hyde": {"passage": "lion"},
    "ircot": step("shark coast museum ticket"),
    "self_rag": {"should_retrieve": True, "passages": [], "follow_up": "museum"},
    "crag": {"grades": [], "rewritten_query": "museum"},
}


@pytest.mark.parametrize("name", ASKING)
def test_none_asks_more_or_longer_than_it_says(name: str) -> None:
    given, model = backing(GREEDY)
    system = build_baseline(name, None, given)
    for part in ("dense", "retriever"):
        if isinstance(getattr(system, part, None), Dense):
            setattr(system, part, dense())
    pool = Pool(
        "d", "d", tuple(Element(str(i), f"{t} " * (i + 1)) for i, t in enumerate(TEXTS * 5))
    )
    system.index(pool)
    ranked = system.search("lion", 10)
    assert len({one for one, _ in ranked}) == 10
    assert isinstance(system, ModelSystem)
    worst = system.worst("lion", pool)
    assert model.calls <= len(worst)
    assert max(map(tokens_in, model.requests)) <= max(map(tokens_in, worst))
    assert all(request.role in (CallRole.ANSWER, CallRole.JUDGE) for request in model.requests)


@pytest.mark.parametrize("name", ASKING)
def test_a_reply_that_does_not_fit_is_an_error_of_the_case(name: str) -> None:
    given, _ = backing({one: BadReply("nonsense") for one in GREEDY})
    system = build_baseline(name, None, given)
    for part in ("dense", "retriever"):
        if isinstance(getattr(system, part, None), Dense):
            setattr(system, part, dense())
    system.index(POOL)
    with pytest.raises(BadReply):
        system.search("lion", 5)


@pytest.mark.parametrize("name", ASKING)
def test_nothing_is_asked_about_an_empty_document(name: str) -> None:
    given, model = backing(GREEDY)
    system = build_baseline(name, None, given)
    for part in ("dense", "retriever"):
        if isinstance(getattr(system, part, None), Dense):
            setattr(system, part, dense())
    system.index(Pool("d", "d", ()))
    assert system.search("lion", 5) == []
    assert model.calls == 0


def test_passages_nobody_judged_do_not_get_lost() -> None:
    stranger = {"passage": "p99", "is_relevant": True, "is_supported": "fully"}
    reply = {"should_retrieve": False, "passages": [stranger], "follow_up": ""}
    given, _ = backing({"self_rag": reply})
    system = SelfRag(given, dense())
    system.index(POOL)
    assert sorted(names(system, "lion")) == [one.id for one in POOL.elements]


def test_the_longest_elements_bound_a_request() -> None:
    assert longest(POOL, 1)[0].id == "5"
    assert len(longest(POOL, MOST_PASSAGES)) == 6
    assert PER_STEP < MOST_PASSAGES


def test_another_model_or_prompt_is_another_state() -> None:
    given, _ = backing({})
    other = Backing(given.models, {**given.programs, "hyde": given.programs["crag"]})
    assert Hyde(given).state != Hyde(other).state
    with pytest.raises(InputError, match="no baseline is called"):
        build_baseline("hide", None, given)
