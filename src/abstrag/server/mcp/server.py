"""The MCP server: the toolbox under the official SDK, over stdio or streamable HTTP."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from importlib.metadata import version
from inspect import Parameter, Signature, signature
from typing import Any, Final

import anyio
import anyio.to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.message import SessionMessage
from mcp.types import ErrorData, JSONRPCError, ToolAnnotations
from pydantic import RootModel, ValidationError
from starlette.types import ASGIApp

from abstrag.collection.filters import Filters
from abstrag.errors import AbstragError
from abstrag.server.access import BodyLimits, Guard
from abstrag.server.mcp.toolbox import Toolbox
from abstrag.server.settings import ServerSettings
from abstrag.server.settings import TokenScope as Access

# MCP over standard input and output, where what is no request gets an answer too.
#
# The SDK drops a line that it cannot read, and a client that waits for an answer waits for ever.
# JSON-RPC has an answer for it: an error with the id of the request, or with null where nobody
# can tell the id.

PARSE_ERROR: Final = -32700  # as JSON-RPC numbers them
INVALID_REQUEST: Final = -32600


class AnsweringServer(MCPServer[Any]):
    """An MCP server that answers every line, also one that is no message."""

    async def run_stdio_async(self) -> None:
        """Serve standard input and output until the input ends."""
        async with stdio_server() as (lines, answers):
            passed_on, messages = anyio.create_memory_object_stream[Any](0)

            async def screen() -> None:
                async with passed_on:
                    async for message in lines:
                        if isinstance(message, Exception):
                            await answers.send(SessionMessage(refusal(message)))
                        else:
                            await passed_on.send(message)

            async with anyio.create_task_group() as group:
                group.start_soon(screen)
                low = self._lowlevel_server
                await low.run(messages, answers, low.create_initialization_options())


def refusal(error: Exception) -> JSONRPCError:
    """Return the answer to a line that is no message, given what was said of it."""
    code, said, request = INVALID_REQUEST, "Invalid Request", None
    if isinstance(error, ValidationError):
        problems = error.errors(include_url=False, include_context=False)
        if any(problem["type"] == "json_invalid" for problem in problems):
            code, said = PARSE_ERROR, "Parse error"
        for problem in problems:
            given = problem["input"]
            if isinstance(given, dict) and isinstance(given.get("id"), str | int):
                request = given["id"]
    return JSONRPCError(jsonrpc="2.0", id=request, error=ErrorData(code=code, message=said))


PATH: Final = "/mcp"
INSTRUCTIONS: Final = (
    "Find evidence in indexed documents. search_all asks every document at once, and ask_all "
    "answers from them; find_documents finds documents by what they are about, documents lists "
    "them by title, file and date, and search asks one of them by its id. Every quote is exact: it "
    "stands at its span of its page. A reading says in one sentence which assumptions make a "
    "segment evidence; gap is what they cost. Use why_not when a passage you expected is missing, "
    "and explain for the costs of one segment."
)
_READS: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_WRITES: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


def mcp_server(toolbox: Toolbox) -> MCPServer[Any]:
    """Make the server; `index` and `feedback` are tools only where they are allowed."""
    server = AnsweringServer(
        "abstrag",
        instructions=INSTRUCTIONS,
        version=version("abstrag"),
        log_level="WARNING",
    )
    for tool in (
        toolbox.documents,
        toolbox.find_documents,
        toolbox.search,
        toolbox.search_all,
        toolbox.search_set,
        toolbox.search_set_all,
        toolbox.explain,
        toolbox.why_not,
        toolbox.ask,
        toolbox.ask_all,
    ):
        server.add_tool(_in_thread(tool), annotations=_READS)
    if toolbox.takes_feedback:
        server.add_tool(_in_thread(toolbox.feedback), annotations=_WRITES)
    if toolbox.may_index:
        server.add_tool(_in_thread(toolbox.index), annotations=_WRITES)
    return server


def http_app(toolbox: Toolbox, settings: ServerSettings) -> ASGIApp:
    """Return the server as an application, behind the same guard as the studio."""
    app = mcp_server(toolbox).streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        json_response=True,
        # the guard checks names and origins, and knows which ones are ours
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    needs = Access.INDEX if toolbox.may_index else Access.READ
    return Guard(BodyLimits(app, settings), settings, public=False, needs=lambda _m, _p: needs)


def _with_filters(told: Signature) -> Signature:
    """Put the filters of a collection where a tool takes `**filters`."""
    last = list(told.parameters.values())[-1:]
    if not last or last[0].kind is not Parameter.VAR_KEYWORD:
        return told
    own = signature(Filters, eval_str=True).parameters.values()
    named = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in own]
    return told.replace(parameters=[*list(told.parameters.values())[:-1], *named])


def _in_thread(tool: Callable[..., Any]) -> Callable[..., Any]:
    """Let a tool work in a thread, and let its errors be one sentence and a hint.

    The SDK reads what a tool takes and returns off its signature. It knows models and not our
    records, so the result is put into a model that has the record as its root.
    """
    told = _with_filters(signature(tool, eval_str=True))
    model = RootModel[told.return_annotation]  # type: ignore[name-defined]

    @wraps(tool)
    async def called(**given: Any) -> Any:
        try:
            return model(await anyio.to_thread.run_sync(partial(tool, **given)))
        except AbstragError as error:
            hint = f" (hint: {error.hint})" if error.hint else ""
            raise ToolError(f"{error}{hint}") from error

    called.__signature__ = told.replace(return_annotation=model)  # type: ignore[attr-defined]
    return called
