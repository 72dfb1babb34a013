"""Serve a language model to many at once, as chat completions in OpenAI's way.

    python training/serve.py --model FOLDER_OR_GGUF --name MODEL --port 8080 --rows 112 --graphs
    python training/serve.py --model FOLDER_OR_GGUF --measure 1 8 64

Replies are held to a JSON schema (`response_format`), and `logprobs` are told where they are asked
for. FOLDER has model and tokenizer as transformers reads them. Each of --rows holds --length
tokens of keys and values (28 KB a token for 1.5 billion parameters in half precision); up to 48 of
them, half at most, remember the beginnings of prompts. --graphs records each shape of a step once
and replays it, on a GPU. --measure asks random prompts, so many at once, and prints tokens a
second.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import torch
from batcher import ALTERNATIVES, Asked, Batcher, Grammars, Refused, measured
from decoder import Decoder

REPORT_S = 10.0


def loaded(path: Path, device: torch.device) -> tuple[Any, Any]:
    """Return a model and its tokenizer, out of a folder or a GGUF file."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    kind = torch.bfloat16 if device.type == "cuda" else torch.float32
    more = {"gguf_file": path.name} if path.is_file() else {}
    folder = str(path.parent if path.is_file() else path)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=kind, **more)
    return model.to(device), AutoTokenizer.from_pretrained(folder, **more)


class Chat:
    """Turns the bodies of requests into prompts, and replies into bodies."""

    def __init__(self, name: str, tokenizer: Any, batcher: Batcher, grammars: Grammars) -> None:
        self.name, self.batcher = name, batcher
        self._tokenizer, self._grammars = tokenizer, grammars

    def complete(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Answer one request.

        Raises:
            Refused: It asks for what there is not.
        """
        asked = self.batcher.answer(self._asked(body))
        message = {"role": "assistant", "content": self._text(asked.said)}
        choice = {"index": 0, "message": message, "finish_reason": asked.finish}
        if asked.alternatives:
            choice["logprobs"] = {"content": self._likely(asked)}
        sent, received = len(asked.prompt), len(asked.said)
        return {
            "id": f"chatcmpl-{id(asked):x}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": self.name,
            "choices": [choice],
            "usage": {
                "prompt_tokens": sent,
                "completion_tokens": received,
                "total_tokens": sent + received,
                "prompt_tokens_details": {"cached_tokens": asked.reused},
            },
        }

    def _asked(self, body: Mapping[str, Any]) -> Asked:
        for name, least in (("stream", False), ("n", 1)):
            if body.get(name) not in (None, least):
                raise Refused(f"{name} is not supported")
        messages = body.get("messages")
        if not isinstance(messages, list) or not all(
            isinstance(one, dict) and isinstance(one.get("content"), str) for one in messages
        ):
            raise Refused("messages is no list of messages with a text each")
        text = self._tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True
        )
        prompt = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        room = self.batcher.decoder.length - len(prompt)
        most = body.get("max_completion_tokens") or body.get("max_tokens") or max(1, room)
        system = [one["content"] for one in messages if one.get("role") == "system"]
        wanted = body.get("top_logprobs", 1) if body.get("logprobs") else 0
        return Asked(
            prompt=list(prompt),
            shared="\n".join(system),
            most=int(most),
            temperature=float(body.get("temperature") or 0.0),
            seed=int(body.get("seed") or 0),
            matcher=self._matcher(body.get("response_format") or {}),
            alternatives=min(int(wanted), ALTERNATIVES),
        )

    def _matcher(self, shape: Mapping[str, Any]) -> Any:
        kind = shape.get("type", "text")
        if kind == "text":
            return None
        if kind == "json_object":
            return self._grammars.matcher({"type": "object"})
        if kind != "json_schema":
            raise Refused(f"response_format {kind!r} is not supported")
        return self._grammars.matcher(shape["json_schema"]["schema"])

    def _text(self, tokens: list[int]) -> str:
        return str(self._tokenizer.decode(tokens, skip_special_tokens=True))

    def _likely(self, asked: Asked) -> list[dict[str, Any]]:
        return [
            {
                "token": self._text([token]),
                "logprob": own,
                "top_logprobs": [{"token": self._text([t]), "logprob": p} for t, p in best],
            }
            for token, (own, best) in zip(asked.said, asked.likely, strict=True)
        ]


class Handler(BaseHTTPRequestHandler):
    """One connection; `chat` is set by whoever serves."""

    protocol_version = "HTTP/1.1"
    chat: Chat

    def do_GET(self) -> None:
        """Name the model, or say that all is well."""
        if self.path == "/v1/models":
            self._send(200, {"object": "list", "data": [{"id": self.chat.name, "object": "model"}]})
        elif self.path == "/health":
            self._send(200, {"status": "ok", "told": self.chat.batcher.told()})
        else:
            self._send(404, {"error": {"message": f"nothing at {self.path}"}})

    def do_POST(self) -> None:
        """Answer a chat completion."""
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path != "/v1/chat/completions":
            self._send(404, {"error": {"message": f"nothing at {self.path}"}})
            return
        try:
            self._send(200, self.chat.complete(json.loads(sent)))
        except (Refused, ValueError, KeyError, TypeError, AttributeError) as error:
            self._send(400, {"error": {"message": f"{type(error).__name__}: {error}"}})
        except RuntimeError as error:
            self._send(500, {"error": {"message": str(error)}})

    def _send(self, status: int, body: Mapping[str, Any]) -> None:
        made = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(made)))
        self.end_headers()
        self.wfile.write(made)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet: what is going on is told by the batcher."""


class Server(ThreadingHTTPServer):
    """A thread a connection, and room for many that knock at the same time."""

    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Let go of whoever hung up; anything else is printed."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def serving(chat: Chat, host: str, port: int) -> Server:
    """Return a server that is bound to its port."""
    return Server((host, port), type("Bound", (Handler,), {"chat": chat}))


def made(given: argparse.Namespace) -> Chat:
    """Load the model and start its thread."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device.type == "cuda":
        torch.backends.cuda.enable_cudnn_sdp(False)  # it would compile every length anew
    model, tokenizer = loaded(given.model, device)
    decoder = Decoder(model, given.rows, given.length)
    ends = model.generation_config.eos_token_id
    ends = ends if isinstance(ends, list) else [ends]
    ends = sorted({*(one for one in ends if one is not None), tokenizer.eos_token_id})
    batcher = Batcher(decoder, ends, graphs=given.graphs)
    grammars = Grammars(tokenizer, decoder.vocabulary, ends)
    return Chat(given.name or given.model.stem, tokenizer, batcher, grammars)


def measure(chat: Chat, sizes: list[int], *, prompt: int, reply: int) -> None:
    """Print tokens a second for so many requests at once, of a random prompt each."""
    chance = random.Random(0)
    decoder = chat.batcher.decoder

    def ask(number: int) -> Asked:
        tokens = [chance.randrange(100, decoder.vocabulary - 300) for _ in range(prompt)]
        return Asked(tokens, shared=f"{chance.random()}{number}", most=reply)

    measured(chat.batcher, 1, ask)
    for size in sizes:
        for _ in range(2):  # the first time, shapes may have to be recorded
            read, said = measured(chat.batcher, size, ask)
        print(f"{size} at once: {read:.0f} tokens read and {said:.0f} said a second", flush=True)


def report(batcher: Batcher) -> None:
    """Print what is going on, as long as something is."""
    before = ""
    while True:
        time.sleep(REPORT_S)
        told = batcher.told()
        if told != before:
            print(f"{time.strftime('%H:%M:%S')} {told}", file=sys.stderr, flush=True)
        before = told


def main() -> None:
    """Serve, or measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True, help="a folder, or a GGUF file")
    parser.add_argument("--name", help="what the model is called; else after its file")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080, help="0: any free one, which is printed")
    parser.add_argument("--rows", type=int, default=16, help="conversations and shelves")
    parser.add_argument("--length", type=int, default=8192, help="tokens of prompt and reply")
    parser.add_argument("--graphs", action="store_true")
    parser.add_argument("--measure", type=int, nargs="+")
    parser.add_argument("--prompt", type=int, default=600, help="tokens, when measuring")
    parser.add_argument("--reply", type=int, default=100)
    given = parser.parse_args()
    began = time.perf_counter()
    chat = made(given)
    if given.measure:
        measure(chat, given.measure, prompt=given.prompt, reply=given.reply)
        return
    server = serving(chat, given.host, given.port)
    print(f"http://{given.host}:{server.server_port}/v1", flush=True)
    print(f"ready after {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    threading.Thread(target=report, args=(chat.batcher,), daemon=True).start()
    server.serve_forever()


if __name__ == "__main__":
    main()
