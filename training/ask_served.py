"""Ask a toy model that `smoke.py` serves, with the client of the package: abstrag has to be there.

python training/ask_served.py http://127.0.0.1:8080/v1
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from abstrag.errors import ModelError
from abstrag.llm.choose import ConfigSource, choose
from abstrag.llm.connect import Models, connect
from abstrag.llm.log import CallLog
from abstrag.llm.model import CallRole, ModelRequest, Reply

SCHEMA = {
    "type": "object",
    "properties": {
        "found": {"type": "boolean"},
        "sure": {"type": "integer", "minimum": 0, "maximum": 100},
        "words": {"type": "array", "items": {"type": "string", "maxLength": 6}, "maxItems": 3},
        "kind": {"type": "string", "enum": ["one", "another"]},
    },
    "required": ["found", "sure", "words", "kind"],
    "additionalProperties": False,
}


def connected(address: str, folder: Path) -> Models:
    """Connect the toy, with a log of its own."""
    settings = choose(ConfigSource(models={None: "toy"}, urls={None: address}))
    assert settings is not None
    return connect(settings, calls=folder / "calls.db")


def request(number: int, temperature: float = 0.0) -> ModelRequest:
    """Return one of some requests of different lengths, with and without a schema."""
    schema = None if number % 4 == 3 else SCHEMA
    user = f"question {number} " + "ab c " * (number * 7)
    return ModelRequest(
        CallRole.ANSWER, "toy", "Be brief. " * 20, user, schema, temperature, number, 120
    )


def kept(
    address: str, requests: list[ModelRequest], *, together: bool
) -> list[tuple[str, str, int, int]]:
    """Return replies word for word with their counts, asked at the same time or one by one."""
    with tempfile.TemporaryDirectory() as name, connected(address, Path(name)) as models:
        model = models[CallRole.ANSWER]
        groups = [requests] if together else [[one] for one in requests]
        replies = [reply for group in groups for reply in model.complete_many(group)]
        failed = [str(one) for one in replies if not isinstance(one, Reply)]
        assert not failed, failed
        with CallLog.open(Path(name) / "calls.db") as log:
            calls = [log.find(one.call) for one in replies if isinstance(one, Reply)]
        made = [one for one in calls if one is not None]
        assert len(made) == len(requests)
        given_up = [one.notes for one in made if one.mode == "json_schema" and one.notes]
        assert not given_up, given_up
        return [(c.raw, c.mode, c.tokens_in, c.tokens_out) for c in made]


def main() -> None:
    """Ask in different ways, and compare."""
    address = sys.argv[1]
    requests = [request(number) for number in range(10)]
    at_once = kept(address, requests, together=True)
    assert at_once == kept(address, requests, together=False), "a batch changes replies"
    assert all(t_in > 0 and t_out > 0 for _, _, t_in, t_out in at_once)
    assert [mode for _, mode, _, _ in at_once].count("json_schema") == 8  # two are free text
    hot = [request(number, temperature=1.0) for number in range(4)]
    drawn = kept(address, hot, together=True)
    assert drawn == kept(address, hot, together=False), "a seed does not repeat its draw"
    assert [one[0] for one in drawn] != [one[0] for one in at_once[:4]], "heat changes nothing"
    with tempfile.TemporaryDirectory() as name, connected(address, Path(name)) as models:
        long = ModelRequest(CallRole.ANSWER, "toy", "", "ab " * 4000, None, 0.0, 0, 100)
        (said,) = models[CallRole.ANSWER].complete_many([long])
        assert isinstance(said, ModelError), said
        assert "too long" in str(said), said
    print(f"{len(at_once)} replies at once as one by one, {len(drawn)} drawn again alike")


if __name__ == "__main__":
    main()
