"""`abstrag serve`: the studio, a page and an HTTP API over one store."""

from __future__ import annotations

import secrets
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import click

from abstrag.cli.engine_options import budget_options
from abstrag.cli.options import LlmOptions, llm_options, store_option
from abstrag.config import MAX_FILE_BYTES, DocumentBudget
from abstrag.errors import InputError, ResourceMissing
from abstrag.stores.open import Target, default_store, resolved
from abstrag.stores.open import shown as shown_store

if TYPE_CHECKING:
    from abstrag.llm.connect import Models

INSTALL: Final = "pip install 'abstrag[server]'"
_MIB: Final = 1024 * 1024
_LOOPBACK: Final = "127.0.0.1"


@click.command("serve")
@click.option("--host", default=_LOOPBACK, show_default=True, help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8377, show_default=True, help="0: any free."
)
@click.option(
    "--token",
    envvar="ABSTRAG_TOKEN",
    help="Ask every client for this.  [default: none on loopback, else a new one]",
)
@click.option(
    "--tokens",
    "tokens_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    envvar="ABSTRAG_TOKENS",
    help="A file of lines SCOPE TOKEN; a scope is read, index or admin.",
)
@click.option("--name", "names", multiple=True, help="A host name the server is reached by.")
@store_option
@click.option(
    "--max-mb",
    type=click.FloatRange(min=0, min_open=True),
    default=MAX_FILE_BYTES / _MIB,
    show_default=True,
    help="Refuse larger uploads.",
)
@click.option(
    "--log",
    "log_form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    envvar="ABSTRAG_LOG",
    help="Warnings as sentences, or every request as a line of JSON.",
)
@budget_options
@llm_options
def serve_command(
    models_options: LlmOptions,
    host: str,
    port: int,
    token: str | None,
    tokens_file: Path | None,
    names: tuple[str, ...],
    store_path: Target | None,
    max_mb: float,
    log_form: str,
    budget: DocumentBudget | None,
) -> None:
    """Serve the page and the HTTP API; Ctrl-C ends it and keeps what is finished.

    Only this machine can reach it, unless --host says otherwise; then every request needs the
    token that is printed. With --llm a model reads queries, judges segments and writes the answers
    of ask; there is no --dry-run of a server.
    """
    try:
        from abstrag.server.app import create_app
        from abstrag.server.listen import bound_socket, serve
        from abstrag.server.metrics import LogForm, set_up_logs
        from abstrag.server.settings import (
            DOCUMENTS_KEPT,
            ServerSettings,
            is_loopback,
            read_tokens,
        )
    except ModuleNotFoundError as error:
        raise ResourceMissing(
            f"abstrag serve needs {error.name!r}, which is not installed", hint=INSTALL
        ) from error
    from abstrag.workspace.options import WorkspaceConfig
    from abstrag.workspace.workspace import Workspace

    tokens = read_tokens(tokens_file) if tokens_file is not None else ()
    if not is_loopback(host) and token is None and not tokens:
        token = secrets.token_urlsafe(24)
    set_up_logs(LogForm(log_form))
    config = WorkspaceConfig(resolved(store_path or default_store()), keep=DOCUMENTS_KEPT)
    with (
        connected(models_options) or nullcontext() as models,
        # before anything is served: a store that cannot be used is an error now, not a dead page
        Workspace(config, models=models) as workspace,
        bound_socket(host, port) as taken,
    ):
        settings = ServerSettings(
            host=host,
            port=taken.getsockname()[1],
            token=token,
            tokens=tokens,
            names=names,
            max_upload_bytes=round(max_mb * _MIB),
            budget=budget or DocumentBudget(),
        )
        address = f"http://{shown(host)}:{settings.port}/"
        if token is not None:
            address += f"#key={quote(token)}"
        click.echo(f"abstrag serves {shown_store(workspace.target)}")
        click.echo(f"open {address}  (Ctrl-C ends it)")
        serve(create_app(settings, workspace), settings, taken)
    click.echo("ended; what was finished is kept")


def connected(options: LlmOptions) -> Models | None:
    """Return the models a server is to use; there is nothing to estimate before a question."""
    if options.dry_run:
        raise InputError("a server has no dry run", hint="--max-cost caps what it may spend")
    return options.connect()


def shown(host: str) -> str:
    """Return an address to open: a wildcard listens everywhere and is no address itself."""
    name = {"0.0.0.0": _LOOPBACK, "::": "::1", "": _LOOPBACK}.get(host, host)
    return f"[{name}]" if ":" in name else name
