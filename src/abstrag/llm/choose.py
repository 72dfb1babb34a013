"""Choosing the models: flags, then the environment, then a file, and otherwise none at all.

| what | flag | variable | file |
|---|---|---|---|
| model of every role | --llm MODEL | ABSTRAG_LLM | [llm] model |
| model of one role | --llm judge=MODEL | ABSTRAG_LLM_JUDGE | [llm.roles.judge] model |
| address | --base-url URL | ABSTRAG_BASE_URL, OPENAI_BASE_URL | [llm] base_url |
| address of one role | --base-url judge=URL | ABSTRAG_BASE_URL_JUDGE | [llm.roles.judge] base_url |

A stronger source wins field by field. A role's own address goes with that role's own model: naming
a model for every role in a stronger source does not send that model's name to the role's address.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from platformdirs import user_config_dir
from pydantic import TypeAdapter, ValidationError

from abstrag.errors import InputError
from abstrag.llm.model import CallRole
from abstrag.llm.settings import (
    OPENAI_URL,
    Endpoint,
    Limits,
    LlmSettings,
    Price,
    Timeouts,
    checked_url,
)
from abstrag.model.record import record

# The config file: `[llm]` in the user's own `config.toml`, or in a project's `abstrag.toml`.
#
# One file is read, the first of: the one the user names, `./abstrag.toml`, `config.toml` in the
# user's config folder. A project's file travels with the project and may be somebody else's work,
# so it may choose models, prices and limits, but neither where documents are sent nor which key
# goes along: that is said by flags, by the environment, or by a file of the user's own.

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
    roles: Mapping[CallRole, Connection] = field(default_factory=dict)
    prices: Mapping[str, Price] = field(default_factory=dict)
    limits: Limits = Limits()
    patience: Timeouts | None = None


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
    """Sort a flat table into the groups of `LlmFile`; unknown keys stay and are refused later."""
    rest = dict(section)
    groups: dict[str, Any] = {
        "everyone": {k: rest.pop(k) for k in ("model", *_PRIVATE) if k in rest},
        "limits": {k: rest.pop(k) for k in _LIMITS if k in rest},
        "patience": {k: rest.pop(k) for k in _PATIENCE if k in rest},
    }
    return {**rest, **groups}


NO_MODEL: Final = "none"  # as a model's name: work without one, whatever else is configured

_KEY: Final = "ABSTRAG_API_KEY"
_OPENAI_KEY: Final = "OPENAI_API_KEY"
_OPENAI_BASE: Final = "OPENAI_BASE_URL"


@dataclass(frozen=True, slots=True)
class ConfigSource:
    """The values of one source: for every role under None, for one role under its name."""

    models: Mapping[CallRole | None, str] = field(default_factory=dict)
    urls: Mapping[CallRole | None, str] = field(default_factory=dict)
    keys: Mapping[CallRole | None, str] = field(default_factory=dict)  # names of variables


def choose(
    flags: ConfigSource | None = None,
    *,
    config: Path | None = None,
    limits: Limits | None = None,
    environment: Mapping[str, str] | None = None,
) -> LlmSettings | None:
    """Decide on the models; None when nothing names one: local mode.

    Without a file the usual places are looked at; what the limits leave open comes from it.

    Raises:
        InputError: The file, an address or a name cannot be used, or an address has no model.
    """
    variables = os.environ if environment is None else environment
    file = read_config(config, variables)
    sources = (flags or ConfigSource(), _from_environment(variables), _from_file(file))
    endpoints = dict(_endpoints(sources, variables))
    if not endpoints:
        if any(source.urls for source in sources[:2]) and not _refused(sources):
            raise InputError(
                "an endpoint is named, but no model",
                hint="name one with --llm MODEL or ABSTRAG_LLM; --llm none works without any",
            )
        return None
    return LlmSettings(
        endpoints=endpoints,
        prices=dict(file.prices),
        limits=_merged(limits or Limits(), file.limits),
        patience=file.patience or Timeouts(),
    )


def by_role(values: tuple[str, ...], option: str) -> dict[CallRole | None, str]:
    """Read values of a flag, each `VALUE` for every role or `ROLE=VALUE` for one.

    Raises:
        InputError: A value is empty, or two are for the same role.
    """
    found: dict[CallRole | None, str] = {}
    for text in values:
        name, equals, rest = text.partition("=")
        role = CallRole(name) if equals and name in set(CallRole) else None
        value = (rest if role else text).strip()
        if not value:
            raise InputError(f"{option} {text!r} names nothing")
        if role in found:
            raise InputError(f"{option} is given twice for {role or 'every role'}")
        found[role] = value
    return found


def _from_environment(variables: Mapping[str, str]) -> ConfigSource:
    models = _named(variables, "ABSTRAG_LLM")
    urls = _named(variables, "ABSTRAG_BASE_URL")
    keys: dict[CallRole | None, str] = {}
    if None not in urls and variables.get(_OPENAI_BASE):
        urls[None] = variables[_OPENAI_BASE]
        if variables.get(_OPENAI_KEY) and not variables.get(_KEY):
            keys[None] = _OPENAI_KEY  # the two belong together
    return ConfigSource(models, urls, keys)


def _named(variables: Mapping[str, str], stem: str) -> dict[CallRole | None, str]:
    names: dict[CallRole | None, str] = {
        None: stem,
        **{role: f"{stem}_{role.value.upper()}" for role in CallRole},
    }
    return {role: variables[name] for role, name in names.items() if variables.get(name)}


def _from_file(file: LlmFile) -> ConfigSource:
    parts: dict[CallRole | None, Connection] = {None: file.everyone}
    parts.update(file.roles.items())
    return ConfigSource(
        models={role: part.model for role, part in parts.items() if part.model},
        urls={role: part.base_url for role, part in parts.items() if part.base_url},
        keys={role: part.api_key_env for role, part in parts.items() if part.api_key_env},
    )


def _endpoints(
    sources: tuple[ConfigSource, ...], variables: Mapping[str, str]
) -> Iterator[tuple[CallRole, Endpoint]]:
    for role in CallRole:
        model, level = _model(sources, role)
        if model is None or model.lower() == NO_MODEL:
            continue
        url, key = _address(sources, role, level)
        url = checked_url(url or OPENAI_URL)
        endpoint = Endpoint(model, url)
        yield role, replace(endpoint, key_variable=key or _key_variable(endpoint, variables))


def _model(sources: tuple[ConfigSource, ...], role: CallRole) -> tuple[str | None, int]:
    for level, source in enumerate(sources):
        if named := source.models.get(role) or source.models.get(None):
            return named, level
    return None, len(sources)


def _address(
    sources: tuple[ConfigSource, ...], role: CallRole, model_level: int
) -> tuple[str | None, str | None]:
    """Return the address, and the variable of its key where the same entry names one."""
    for level, source in enumerate(sources):
        whose = (role, None) if level <= model_level else (None,)
        for who in whose:
            if url := source.urls.get(who):
                return url, next((source.keys[w] for w in whose if w in source.keys), None)
    return None, sources[-1].keys.get(None)


def _key_variable(endpoint: Endpoint, variables: Mapping[str, str]) -> str | None:
    """Return the variable of the key; OpenAI's own key is sent to nobody but OpenAI."""
    if variables.get(_KEY):
        return _KEY
    host = urlsplit(endpoint.base_url).hostname or ""
    ours = host == "openai.com" or host.endswith(".openai.com")
    return _OPENAI_KEY if ours and variables.get(_OPENAI_KEY) else None


def _refused(sources: tuple[ConfigSource, ...]) -> bool:
    named = [name for source in sources for name in source.models.values()]
    return any(name.lower() == NO_MODEL for name in named)


def _merged(strong: Limits, weak: Limits) -> Limits:
    def said(name: str) -> Any:
        value = getattr(strong, name)
        return getattr(weak, name) if value is None else value

    return Limits(*(said(each.name) for each in fields(Limits)))
