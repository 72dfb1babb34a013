"""Train SmolLM2-135M to read pairs as the judge does, and write down its opinion of made queries.

    python training/teacher.py --examples build/smol/examples.npz --made build/smol/made.npz \
        --model SmolLM2-135M-Instruct.Q4_1.gguf --tokenizer smol.json \
        --opinions build/opinions/smol.npz

Same data, same loss as `judge.py`. Both files of examples are in the language model's own tokens.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from judge import Recipe, evaluate, fit
from smol import Reader, SmolExamples, load, parser_of
from tokenizers import Tokenizer

from examples import View, write_logits

RECIPE = {
    "name": "teacher",
    "epochs": 3,
    "queries": 12,
    "average": 0.3,
    "only_most": {"feverous": 1200, "hybridqa": 800},
}


def main() -> None:
    """Train, measure on what is held out, then read what was made."""
    parser = parser_of(__doc__.splitlines()[0])
    parser.add_argument("--made", type=Path, required=True)
    parser.add_argument("--opinions", type=Path, required=True)
    parser.add_argument("--logits", type=Path, help="where to write those of what is held out")
    parser.add_argument("--recipe", default="{}")
    given = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    recipe = Recipe(**{**RECIPE, **json.loads(given.recipe)})
    tokenizer = Tokenizer.from_file(str(given.tokenizer))
    torch.manual_seed(recipe.seed)
    reader = Reader(load(given.model)).to(device)
    examples = SmolExamples(given.examples, tokenizer, recipe.fold)
    fit(reader, examples, recipe, {}, device)
    told, logits = evaluate(reader, examples, examples.held(), View(), device)
    print(json.dumps(told), flush=True)
    if given.logits:
        write_logits(given.logits, logits)
    made = SmolExamples(given.made, tokenizer, None)
    told, logits = evaluate(reader, made, made.held(), View(), device)
    print(json.dumps(told), flush=True)
    write_logits(given.opinions, logits)


if __name__ == "__main__":
    main()
