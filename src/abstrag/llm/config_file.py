"""The config file: `[llm]` in the user's own `config.toml`, or in a project's `abstrag.toml`.

One file is read, the first of: the one the user names, `./abstrag.toml`, `config.toml` in the
user's config folder. A project's file travels with the project and may be somebody else's work, so
it may choose models, prices and limits, but neither where documents are sent nor which key goes
along: that is said by flags, by the environment, or by a file of the user's own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from platformdirs import user_config_dir
from pydantic import TypeAdapter, ValidationError

from abstrag.errors import InputError
from abstrag.llm.model import Role
from abstrag.llm.settings import Limits, Patience, Price
from abstrag.model.record import record

CONFIG_VARIABLE: Final = "ABSTRAG_CONFIG"
PROJECT_FILE: Final = "abstrag.toml"
USER_FILE: Final = "config.toml"

_PRIVATE: Final = ("base_url", "api_key_env")


@record
class Connection:
    """A model, its address and the name of the variable with its key; each may be left open."""

    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None


@record
class LlmFile:
    """What the file says about language models."""

    everyone: Connection = Connection()
    roles: Mapping[Role, Connection] = field(default_factory=dict)
    prices: Mapping[str, Price] = field(default_factory=dict)
    limits: Limits = Limits()
    patience: Patience | None = None


def read_config(named: Path | None, variables: Mapping[str, str]) -> LlmFile:
    """Read the file that counts; one that says nothing when there is none.

    Raises:
        InputError: The file cannot be read, is no TOML, or says something unknown.
    """
    path = named or (Path(p).expanduser() if (p := variables.get(CONFIG_VARIABLE)) else None)
    if path is not None:
        return _read(path)
    project = Path(PROJECT_FILE)
    if project.is_file():
        return _read(project, shared=True)
    own = Path(user_config_dir("abstrag", appauthor=False)) / USER_FILE
    return _read(own) if own.is_file() else LlmFile()


def _read(path: Path, *, shared: bool = False) -> LlmFile:
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"config file {str(path)!r} cannot be read: {error}") from error
    section = data.get("llm", {})
    if not isinstance(section, dict):
        raise InputError(f"config file {str(path)!r}: llm is not a table", hint="write [llm]")
    if shared:
        _refuse_private(path, section)
    try:
        return TypeAdapter(LlmFile).validate_python(_sorted_out(section))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part not in _GROUPS)
        raise InputError(
            f"config file {str(path)!r}: llm.{where}: {first['msg']}",
            hint="docs/llm.md lists what may stand there",
        ) from error


def _refuse_private(path: Path, section: Mapping[str, Any]) -> None:
    roles = section.get("roles", {})
    parts = [section, *(roles.values() if isinstance(roles, dict) else ())]
    said = [name for name in _PRIVATE if any(isinstance(p, dict) and name in p for p in parts)]
    if said:
        raise InputError(
            f"{str(path)!r} says {said[0]!r}, which a project's file may not",
            hint="name the file with --llm-config if you trust it, "
            "or put this into your own config or ABSTRAG_BASE_URL",
        )


_LIMITS: Final = ("max_calls", "max_tokens", "max_cost")
_PATIENCE: Final = ("timeout_s", "retries", "concurrency", "reply_tokens")
_GROUPS: Final = ("everyone", "limits", "patience")


def _sorted_out(section: Mapping[str, Any]) -> dict[str, Any]:
    """Bring the flat table into the groups of `LlmFile`; what is unknown stays, to be refused."""
    rest = dict(section)
    groups: dict[str, Any] = {
        "everyone": {k: rest.pop(k) for k in ("model", *_PRIVATE) if k in rest},
        "limits": {k: rest.pop(k) for k in _LIMITS if k in rest},
        "patience": {k: rest.pop(k) for k in _PATIENCE if k in rest},
    }
    return {**rest, **groups}
