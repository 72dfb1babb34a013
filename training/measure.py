"""Measure a judge's weights on prepared examples, without training anything.

python training/measure.py --examples examples.npz --weights weights.npz [--fold 0] [--source xquad]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch
from judge import evaluate
from weights import judge_of, read_weights

from examples import Examples, View


def main() -> None:
    """Print nDCG@10 by data set and the calibration; without --fold, of all documents."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--fold", type=int)
    parser.add_argument("--source", nargs="+", help="only these data sets")
    given = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = judge_of(read_weights(given.weights), device)
    examples = Examples(given.examples, given.fold)
    queries = [q for q in examples.held() if not given.source or examples.source(q) in given.source]
    told, _ = evaluate(model, examples, queries, View(), device)
    print(json.dumps(told))


if __name__ == "__main__":
    main()
