"""MCP over standard input and output, where what is no request gets an answer too.

The SDK drops a line that it cannot read, and a client that waits for an answer waits for ever.
JSON-RPC has an answer for it: an error with the id of the request, or with null where nobody can
tell the id.
"""

from __future__ import annotations

from typing import Any, Final

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import ErrorData, JSONRPCError
from pydantic import ValidationError

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
