"""Whether a reply has the shape that its JSON schema asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BeforeValidator

from abstrag.errors import InputError
from abstrag.model.record import Unit

# How sure a model is: asked for as a whole number of 0 to 100, kept as a share of 1.
#
# Servers that enforce a schema keep an integer in its range, but many of them not a fraction: a
# small model asked for one of 0 to 1 may say 10, or write digits without end. An integer is
# shorter, too.


def _share(said: Any) -> Any:
    """Divide a number of percent by 100; what is none is left for the type to refuse."""
    return said / 100 if isinstance(said, int | float) and not isinstance(said, bool) else said


Percent = Annotated[Unit, BeforeValidator(_share)]


def expected(said: str, weights: Mapping[str, float], scale: Mapping[str, float]) -> float:
    """Return what a word of a scale is worth, on average where a model's other words are known.

    Args:
        said: The word.
        weights: Beginnings of words with their probabilities; what begins no word of the scale, or
            more than one, counts for nothing.
        scale: What each word is worth.
    """
    mass = total = 0.0
    for begun, weight in weights.items():
        meant = [word for word in scale if word.startswith(begun)]
        if len(meant) == 1:
            mass += weight
            total += weight * scale[meant[0]]
    return total / mass if mass > 0 else scale[said]


# many a server that enforces a schema lets these pass
_BOUNDS: Final = frozenset(
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf "
    "minLength maxLength pattern minItems maxItems uniqueItems".split()
)


def misfit(value: object, schema: Mapping[str, Any]) -> str | None:
    """Say in one line where a value breaks its schema; None when it fits.

    Raises:
        InputError: The schema itself is wrong.
    """
    from jsonschema import Draft202012Validator  # loaded when there is a reply to check
    from jsonschema.exceptions import SchemaError, best_match

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise InputError(f"not a JSON schema: {error.message}") from error
    worst = best_match(Draft202012Validator(schema).iter_errors(value))
    if worst is None:
        return None
    where = ".".join(str(part) for part in worst.absolute_path) or "the reply"
    return f"{where}: {_short(worst.message)}"


def keeps_form(value: object, schema: Mapping[str, Any]) -> bool:
    """Tell whether a value has the parts its schema asks for, be some too large or too many."""
    from jsonschema import Draft202012Validator

    faults = Draft202012Validator(schema).iter_errors(value)
    return all(fault.validator in _BOUNDS for fault in faults)


def _short(message: str, limit: int = 200) -> str:
    """Cut a message that quotes a whole document in the middle: both of its ends say something."""
    half = limit // 2
    return message if len(message) <= limit else f"{message[:half]} … {message[-half:]}"
