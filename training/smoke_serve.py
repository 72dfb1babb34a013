"""The part of `smoke.py` about serving a language model: batches, schemas, and the real client."""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import torch
from batcher import Asked, Batcher, measured
from decoder import Decoder
from serve import Chat, made, serving
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

Check = Callable[[str, float, float], None]
TEMPLATE = (
    "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
PROMPTS = ("short", "a longer one than that", "w" * 90, "", "and one more of some length")


def toy_chat_tokenizer() -> PreTrainedTokenizerFast:
    """Return a tokenizer that knows every byte, one word, and an end."""
    words = [*sorted(pre_tokenizers.ByteLevel.alphabet()), "ab", "<|endoftext|>"]
    bare = Tokenizer(models.BPE({word: n for n, word in enumerate(words)}, [("a", "b")]))
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bare.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(tokenizer_object=bare, eos_token="<|endoftext|>")
    made.chat_template = TEMPLATE
    return made


def toy_model(vocabulary: int, hidden: int = 32, layers: int = 2) -> Qwen2ForCausalLM:
    """Return a network of the right family that has learned nothing."""
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=vocabulary, hidden_size=hidden, intermediate_size=2 * hidden,
        num_hidden_layers=layers, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=4096, eos_token_id=257,
    )  # fmt: skip
    model = Qwen2ForCausalLM(config).eval()
    for weight in model.parameters():  # so that one token is clearly likelier than another
        if weight.ndim > 1:
            weight.data *= 8
    return model


def plain(model: Qwen2ForCausalLM, prompt: list[int], count: int) -> list[int]:
    """Return what the model's own code says, a token at a time."""
    row = torch.tensor([prompt])
    for _ in range(count):
        with torch.no_grad():
            logits = model(input_ids=row, use_cache=False).logits
        row = torch.cat((row, logits[:, -1].argmax(1, keepdim=True)), 1)
    return row[0, len(prompt) :].tolist()


def together(batcher: Batcher, asked: list[Asked]) -> list[list[int]]:
    """Answer requests at the same time."""
    threads = [threading.Thread(target=batcher.answer, args=(one,)) for one in asked]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [one.said for one in asked]


def check_serving(check: Check, client: Path | None) -> None:
    """Serve a toy model, by itself and to the client of the package where that is installed."""
    tokenizer = toy_chat_tokenizer()
    model = toy_model(len(tokenizer))
    batcher = Batcher(Decoder(model, rows=12, length=512), ends=[257])
    prompts = [tokenizer("the same system text. " + one)["input_ids"] for one in PROMPTS]
    alone = [plain(model, one, 12) for one in prompts]
    said = together(batcher, [Asked(one, "system", 12) for one in prompts])
    cut = [one[: one.index(257)] if 257 in one else one for one in alone]
    check("served, as alone", sum(a == b for a, b in zip(cut, said, strict=True)) / len(said), 1)
    check("  beginnings shared", batcher.counts.reused, 20 * (len(prompts) - 1))
    batcher.close()
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        given = argparse.Namespace(
            model=Path(folder), name="toy", rows=12, length=4096, graphs=False
        )
        check_client(made(given), check, client)
    check_speed(check)


def check_client(chat: Chat, check: Check, client: Path | None) -> None:
    """Have the package's own client ask over HTTP."""
    server = serving(chat, "127.0.0.1", 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    if client is None:
        print("the package's client was not tried: --client PYTHON, where abstrag is installed")
    else:
        script = Path(__file__).with_name("ask_served.py")
        address = f"http://127.0.0.1:{server.server_port}/v1"
        told = subprocess.run(
            [client, script, address], check=False, capture_output=True, text=True
        )
        print(told.stdout + told.stderr, end="")
        check("served, client content", float(told.returncode == 0), 1)
    server.shutdown()
    chat.batcher.close()


def check_speed(check: Check) -> None:
    """See that eight at once are said faster than one."""
    model = toy_model(2048, hidden=256, layers=4)
    batcher = Batcher(Decoder(model, rows=16, length=512), ends=[])

    def ask(number: int) -> Asked:
        return Asked([number + 3] * 64, str(number), 24)

    measured(batcher, 1, ask)
    one, eight = (measured(batcher, size, ask)[1] for size in (1, 8))
    print(f"tokens said a second, one and eight at once: {one:.0f}, {eight:.0f}")
    check("served, gain of eight", eight / one, 1.5)
    batcher.close()
