"""How fast indexing is, and how time and memory grow from 1 to 1,000 pages.

    python benchmarks/indexing.py [PAGES ...]

Every size runs in a process of its own, so that peak memory means something. `spaCy` is the bare
pipeline over the very texts the chain parses, timed in the same process; `ratio` is the chain
against it. `warm` is opening the same unchanged file again from the store.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORDS_A_PAGE = 500
SIZES = (1, 10, 100, 1000)

NAMES = ("Anthropic", "TSMC", "Samsung", "Acme Corp.", "the World Bank", "Dr. Jane Miller", "Osaka")
FRAMES = (
    "{name} announced in {month} {year} that its {noun} {verb} the {noun2} by {n}%.",
    "We show that the {noun} of a {noun2} may {verb} other {noun}s, such as the {noun2}.",
    "The {noun}, a kind of {noun2}, was {verb}ed by {name} on {month} {day}, {year} [{n}].",
    "It {verb}s the {noun2} when {name} visits the {noun} of the company.",
    "According to {name}, the {noun} agreement was signed last year and the {noun2} grew.",
    "Results for the {noun} are shown in Table {n}; they differ from the {noun2} of {year}.",
)
MONTHS = ("January", "March", "May", "July", "October")


def article(pages: int) -> str:
    """Write a Markdown article whose vocabulary grows with its length, as real ones do."""
    from abstrag.lexicon.pos import Pos
    from abstrag.lexicon.wordnet import wordnet

    rng = random.Random(pages)
    net = wordnet()
    nouns = sorted({w for s in net.synsets("artifact", Pos.NOUN) for w in _below(s, 4000)})
    verbs = ("visit", "support", "limit", "report", "answer", "offer", "alter", "deliver")
    known = rng.sample(nouns, min(len(nouns), 40 + 12 * pages))
    lines = ["---", "title: A long article", "date: 2024-05-15", "---", ""]
    words = 0
    while words < pages * WORDS_A_PAGE:
        if rng.random() < 0.05:
            part = rng.choice(("Methods", "Results", "Background", "Outlook"))
            lines += [f"## {part} of {rng.choice(known)}", ""]
        sentences = [
            rng.choice(FRAMES).format(
                name=rng.choice(NAMES),
                month=rng.choice(MONTHS),
                day=rng.randint(1, 28),
                year=rng.randint(1998, 2024),
                noun=rng.choice(known),
                noun2=rng.choice(known),
                verb=rng.choice(verbs),
                n=rng.randint(1, 99),
            )
            for _ in range(rng.randint(3, 8))
        ]
        lines += [" ".join(sentences), ""]
        words += sum(len(s.split()) for s in sentences)
    return "\n".join(lines)


def _below(synset: int, limit: int) -> list[str]:
    from abstrag.lexicon.wordnet import wordnet

    net, found, queue = wordnet(), list[str](), [synset]
    while queue and len(found) < limit:
        here = queue.pop(0)
        found += [w for w in net.lemmas(here) if w.isalpha() and w.islower()]
        queue += net.hyponyms(here)
    return found


def measure(pages: int) -> dict[str, float]:
    """Time one size in this process."""
    from abstrag.documents.load import load
    from abstrag.indexing.operator import IndexDraft
    from abstrag.indexing.pipeline import index, standard_chain
    from abstrag.language.parser import parse
    from abstrag.workspace.options import WorkspaceConfig
    from abstrag.workspace.workspace import Workspace

    text = article(pages)
    parse(["Load the model before the clock starts."])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "article.md"
        path.write_text(text, "utf-8")
        started = time.perf_counter()
        document = load(path)
        parsing = time.perf_counter() - started
        texts = [p.text for p in standard_chain().operators[0](IndexDraft(document)).parses]
        bare, chain = [], []
        for _ in range(1 if pages > 100 else 3):  # interleaved: these machines are noisy
            started = time.perf_counter()
            parse(texts)
            bare.append(time.perf_counter() - started)
            started = time.perf_counter()
            index(document)
            chain.append(time.perf_counter() - started)
        with Workspace(WorkspaceConfig(store=Path(folder) / "store.db")) as workspace:
            library = workspace.indexing()
            started = time.perf_counter()
            library.index_file(path)
            cold = time.perf_counter() - started
            started = time.perf_counter()
            library.open(str(path))
            warm = time.perf_counter() - started
        size = (Path(folder) / "store.db").stat().st_size
    return {
        "pages": pages,
        "parsing": parsing,
        "spacy": min(bare),
        "chain": min(chain),
        "ratio": min(chain) / min(bare),
        "cold": cold,
        "warm": warm,
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "store_mb": size / 1024 / 1024,
    }


def main() -> None:
    """Run every size and print the table."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(int(sys.argv[2]))))
        return
    sizes = [int(a) for a in sys.argv[1:]] or list(SIZES)
    print(
        f"{'pages':>6} {'parse s':>8} {'spaCy s':>8} {'chain s':>8} {'ratio':>6} {'cold p/s':>9} "
        f"{'warm p/s':>9} {'ms/page':>8} {'memory MB':>10} {'store MB':>9}"
    )
    for pages in sizes:
        done = subprocess.run(
            [sys.executable, __file__, "--one", str(pages)],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        r = json.loads(done.stdout)
        print(
            f"{pages:>6} {r['parsing']:>8.2f} {r['spacy']:>8.2f} {r['chain']:>8.2f} "
            f"{r['ratio']:>6.2f} {pages / r['cold']:>9.1f} {pages / r['warm']:>9.1f} "
            f"{1000 * r['cold'] / pages:>8.1f} {r['memory_mb']:>10.0f} {r['store_mb']:>9.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
