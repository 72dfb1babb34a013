"""A recording: calls as JSON lines, to be replayed where there is no model to ask."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile

from abstrag.errors import FileMissing, InputError
from abstrag.llm.call import Call
from abstrag.llm.model import CallRole
from abstrag.model.record import from_json, record, to_json


@record
class Recording:
    """Calls by id."""

    calls: Mapping[str, Call]

    @classmethod
    def load(cls, path: Path) -> Recording:
        """Read a recording.

        Raises:
            FileMissing: There is no such file.
            InputError: A line is not a call.
        """
        try:
            lines = path.read_text("utf-8").split("\n")  # texts may hold other line ends
        except FileNotFoundError as error:
            raise FileMissing(f"no recording at {str(path)!r}") from error
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"recording {str(path)!r} cannot be read: {error}") from error
        calls: dict[str, Call] = {}
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                call = from_json(Call, line)
            except InputError as error:
                raise InputError(f"recording {str(path)!r}, line {number}: {error}") from error
            calls[call.id] = call
        return cls(calls)

    def roles(self) -> dict[CallRole, str]:
        """Say which model served which role; the only model serves them all.

        Raises:
            InputError: A role was served by several, or nothing was recorded.
        """
        models = sorted({call.model for call in self.calls.values()})
        if len(models) == 1:
            return dict.fromkeys(CallRole, models[0])
        served: dict[CallRole, str] = {}
        for call in self.calls.values():
            if served.setdefault(call.request.role, call.model) != call.model:
                raise InputError(
                    f"the recording has several models for the role {call.request.role.value!r}",
                    hint="choose with --llm MODEL, one of: " + ", ".join(models),
                )
        if not served:
            raise InputError("the recording is empty")
        return served


def save(calls: Iterable[Call], path: Path) -> int:
    """Write calls to a file, all or nothing, and return how many."""
    count = 0
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = NamedTemporaryFile(  # noqa: SIM115
            "w", encoding="utf-8", newline="\n", dir=path.parent, delete=False
        )
        draft = Path(file.name)
        try:
            with file:
                for count, call in enumerate(calls, 1):  # noqa: B007
                    file.write(to_json(call) + "\n")
            draft.replace(path)
        except BaseException:
            draft.unlink()  # closed by now: Windows removes no open file
            raise
    except OSError as error:
        raise InputError(f"recording {str(path)!r} cannot be written: {error}") from error
    return count
