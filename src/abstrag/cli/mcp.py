"""`abstrag mcp`: the store as tools for an agent, over stdio or HTTP."""

from __future__ import annotations

import secrets
from contextlib import nullcontext
from pathlib import Path

import click

from abstrag.cli.options import LlmOptions, llm_options, store_option
from abstrag.cli.serve import INSTALL, connected, shown
from abstrag.errors import ResourceMissing
from abstrag.stores.open import Target, default_store, resolved


@click.command("mcp")
@click.option("--http", "over_http", is_flag=True, help="Streamable HTTP instead of stdio.")
@click.option("--host", default="127.0.0.1", show_default=True, help="For --http.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8378, show_default=True, help="For --http."
)
@click.option(
    "--token",
    envvar="ABSTRAG_TOKEN",
    help="For --http: ask every client for this.  [default: none on loopback, else a new one]",
)
@click.option(
    "--tokens",
    "tokens_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    envvar="ABSTRAG_TOKENS",
    help="For --http: A file of lines SCOPE TOKEN; a scope is read, index or admin.",
)
@click.option("--name", "names", multiple=True, help="For --http: a host name to be reached by.")
@click.option(
    "--allow-index",
    "folders",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Let the agent index files inside FOLDER.  [default: it can only read]",
)
@click.option(
    "--allow-feedback",
    is_flag=True,
    help="Let the agent pass on what a person says of hits and steps.",
)
@store_option
@llm_options
def mcp_command(
    models_options: LlmOptions,
    over_http: bool,
    host: str,
    port: int,
    token: str | None,
    tokens_file: Path | None,
    names: tuple[str, ...],
    folders: tuple[Path, ...],
    allow_feedback: bool,
    store_path: Target | None,
) -> None:
    """Give an agent tools over a store: documents, search, explain, why_not and ask.

    search_all and ask_all go to every document.

    With --allow-index FOLDER there is also index, for files inside FOLDER and no others, and with
    --allow-feedback there is feedback. With
    --llm a model reads queries, judges segments and writes the answers of ask; there is no
    --dry-run of a server.
    """
    try:
        from abstrag.server.listen import bound_socket, serve
        from abstrag.server.mcp.server import PATH, http_app, mcp_server
        from abstrag.server.mcp.toolbox import Toolbox
        from abstrag.server.settings import (
            DOCUMENTS_KEPT,
            ServerSettings,
            is_loopback,
            read_tokens,
        )
    except ModuleNotFoundError as error:
        raise ResourceMissing(
            f"abstrag mcp needs {error.name!r}, which is not installed", hint=INSTALL
        ) from error
    from abstrag.workspace.options import WorkspaceConfig
    from abstrag.workspace.workspace import Workspace

    config = WorkspaceConfig(resolved(store_path or default_store()), keep=DOCUMENTS_KEPT)
    with (
        connected(models_options) or nullcontext() as models,
        Workspace(config, models=models) as workspace,
    ):
        toolbox = Toolbox(workspace, folders=folders, takes_feedback=allow_feedback)
        if not over_http:
            mcp_server(toolbox).run("stdio")
            return
        tokens = read_tokens(tokens_file) if tokens_file is not None else ()
        if not is_loopback(host) and token is None and not tokens:
            token = secrets.token_urlsafe(24)
            click.echo(f"token: {token}")
        with bound_socket(host, port) as taken:
            bound = taken.getsockname()[1]
            settings = ServerSettings(
                host=host, port=bound, token=token, tokens=tokens, names=names
            )
            click.echo(f"mcp at http://{shown(host)}:{bound}{PATH}  (Ctrl-C ends it)")
            serve(http_app(toolbox, settings), settings, taken)
