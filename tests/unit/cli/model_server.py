"""A model behind HTTP that answers every program from what it is shown and nothing else."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from abstrag.llm.model import CallRole, ModelRequest
from abstrag.policy.load import load_programs
from tests.unit.indexing.prompted.models import diligent, given
from tests.unit.llm.faulty import Behaviour, FaultyServer, says

Fault = Callable[[str, int], Behaviour | None]  # by stage and number of the request


class ModelServer(FaultyServer):
    """Answers by the program that asks; `fault` may misbehave instead."""

    def __init__(self, fault: Fault) -> None:
        super().__init__([])
        self.fault = fault
        self.stages: Counter[str] = Counter()
        self._by_instruction = {p.instruction: stage for stage, p in load_programs().items()}
        self._replies = {**diligent()._replies, **QUERY_SIDE}
        self._counting = threading.Lock()

    @property
    def asked(self) -> int:
        """How many requests came."""
        return self.stages.total()

    def next(self, body: dict[str, Any], headers: dict[str, str]) -> Behaviour:
        system, user = (message["content"] for message in body["messages"][:2])
        stage = next(s for text, s in self._by_instruction.items() if system.startswith(text))
        with self._counting:
            self.stages[stage] += 1
            number = self.stages[stage]
            self.headers.append(headers)
        if (fault := self.fault(stage, number)) is not None:
            return fault
        reply = self._replies[stage]
        request = ModelRequest(CallRole.INDEX, stage, system, user)
        return says(reply(request) if callable(reply) else reply)


@contextmanager
def model_server(fault: Fault = lambda _stage, _number: None) -> Iterator[ModelServer]:
    """Serve on loopback."""
    server = ModelServer(fault)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _entailment(request: ModelRequest) -> Any:
    """Judge a segment by the words it shares with the query."""
    inputs = given(request)
    wanted = set(inputs["query"].lower().split())
    judgements = []
    for segment in inputs["segments"]:
        shared = len(wanted & set(segment["text"].lower().split())) / max(1, len(wanted))
        said = "yes" if shared > 0.5 else "perhaps" if shared else "no"
        literals = [{"literal": x["id"], "met": said} for x in inputs["literals"]]
        judgements.append({"segment": segment["id"], "literals": literals})
    return {"judgements": judgements}


def _normalized(request: ModelRequest) -> Any:
    longest = max(given(request)["query"].strip(" ?.").split(), key=len)
    rest = {"negated": False, "slots": []}
    marks = [{"kind": "concept", "quote": x, **rest} for x in (longest, "nowhere")]
    return {"literals": marks, "answer_type": ""}


def _expanded(request: ModelRequest) -> Any:
    inputs = given(request)
    step = {"operator": "synonym", "confidence": 90}
    edge = {"literal": "q1", "source": inputs["terms"][0], **step}
    free = {**edge, "source": "whatever you like"}
    return {"clauses": [{"edges": [edge]}, {"edges": [free]}]}


QUERY_SIDE = {
    "entailment": _entailment,
    "normalize_query": _normalized,
    "expand_query": _expanded,
}
