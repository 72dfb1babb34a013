"""Ask NLTK about a sample of WordNet and write its answers down, for the tests to compare with.

    python tools/wordnet_reference.py DICT [--output tests/golden/wordnet_reference.json]

Needs `nltk`, which nothing else here does, so run it in an environment of its own. DICT is the
folder that `tools/compile_wordnet.py` read. NLTK opens two files that not every release has; the
tool makes them in a temporary copy: `lexnames`, from the names below, and `cntlist.rev`, from the
counts in index.sense.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

SEED: Final = 20
LEXNAMES: Final = (
    "adj.all adj.pert adv.all noun.Tops noun.act noun.animal noun.artifact noun.attribute "
    "noun.body noun.cognition noun.communication noun.event noun.feeling noun.food noun.group "
    "noun.location noun.motive noun.object noun.person noun.phenomenon noun.plant noun.possession "
    "noun.process noun.quantity noun.relation noun.shape noun.state noun.substance noun.time "
    "verb.body verb.change verb.cognition verb.communication verb.competition verb.consumption "
    "verb.contact verb.creation verb.emotion verb.motion verb.perception verb.possession "
    "verb.social verb.stative verb.weather adj.ppl"
)
POS_NUMBER: Final = {"noun": 1, "verb": 2, "adj": 3, "adv": 4}
FORMS: Final = {
    "n": "geese churches men abaci wolves boxes ponies glasses news data New_York xyzzy axes",
    "v": "ran went flies goes making stopped saw hoped bought is collaborating xyzzies",
    "a": "better larger finest happier nicest worse xyzzier",
    "r": "best better quickly xyzzly",
}
WORDS: Final = (
    "bank car chip collaboration collaborate supplier company visit meet announce acquire "
    "acquisition good bad hot long fast well quickly man run set break American develop development"
)
ODD: Final = (  # what makes Wu–Palmer in NLTK special; see `abstrag.lexicon.wordnet`
    ("dog.n.01", "cat.n.01"),
    ("person.n.01", "person.n.01"),
    ("person.n.01", "rock.n.01"),
    ("chef.n.01", "fireman.n.01"),
    ("travel.v.01", "walk.v.01"),
    ("walk.v.01", "travel.v.01"),
    ("walk.v.01", "run.v.01"),
    ("buy.v.01", "think.v.01"),
    ("dog.n.01", "run.v.01"),
    ("good.a.01", "bad.a.01"),
    ("good.a.01", "good.a.01"),
    ("quickly.r.01", "slowly.r.01"),
    ("entity.n.01", "entity.n.01"),
    ("entity.n.01", "dog.n.01"),
    ("paris.n.01", "city.n.01"),
)


def completed(source: Path, target: Path) -> None:
    """Copy the database and add what NLTK wants beyond it."""
    target.mkdir(parents=True)
    for path in sorted(source.iterdir()):
        shutil.copyfile(path, target / path.name)
    lines = [
        f"{i:02d}\t{n}\t{POS_NUMBER[n.split('.')[0]]}\n" for i, n in enumerate(LEXNAMES.split())
    ]
    (target / "lexnames").write_text("".join(lines))
    if not (target / "cntlist.rev").exists():
        counts = []
        for line in (source / "index.sense").read_text().splitlines():
            key, _, sense, count = line.split()
            if count != "0":
                counts.append(f"{key} {sense} {count}\n")
        (target / "cntlist.rev").write_text("".join(sorted(counts)))


def names(synsets: Sequence[Any]) -> list[str]:
    """Name synsets in an order of our own: NLTK keeps links in sets."""
    return sorted(s.name() for s in synsets)


def rooted(synsets: Iterable[Any]) -> list[Any]:
    """Leave out what is below the one cycle of WordNet 3.0: NLTK cannot measure depth there."""
    kept = []
    for synset in sorted(synsets):
        with suppress(ValueError):
            synset.max_depth()
            kept.append(synset)
    return kept


def near(synset: Any, chance: random.Random) -> Any:
    """Walk a few steps up from a synset and a few down again, to somewhere related."""
    for _ in range(chance.randint(1, 4)):
        above = sorted(synset.hypernyms() + synset.instance_hypernyms())
        synset = chance.choice(above) if above else synset
    for _ in range(chance.randint(0, 3)):
        below = rooted(synset.hyponyms() + synset.instance_hyponyms())
        synset = chance.choice(below) if below else synset
    return synset


def pairs(wn: Any, chance: random.Random) -> Iterator[tuple[Any, Any]]:
    """Yield pairs: odd ones, unrelated ones, and related ones in both orders."""
    yield from ((wn.synset(a), wn.synset(b)) for a, b in ODD)
    for pos, unrelated, related in (("n", 100, 120), ("v", 60, 80)):
        everything = rooted(wn.all_synsets(pos))
        for _ in range(unrelated):
            yield chance.choice(everything), chance.choice(everything)
        for _ in range(related):
            a = chance.choice(everything)
            b = near(a, chance)
            yield from ((a, b), (b, a))


def answers(wn: Any) -> dict[str, Any]:
    """Collect NLTK's answers about the sample."""
    chance = random.Random(SEED)
    measured = [(a.name(), b.name(), a.wup_similarity(b)) for a, b in pairs(wn, chance)]
    synsets = [
        s
        for pos, n in (("n", 60), ("v", 30), ("a", 15), ("r", 5))
        for s in chance.sample(rooted(wn.all_synsets(pos)), n)
    ]
    lemmas = sorted({*WORDS.split(), *chance.sample(sorted(wn.all_lemma_names()), 60)})
    known = [(word, pos) for word in lemmas for pos in "nvar" if wn.lemmas(word, pos)]
    return {
        "wup": measured,
        "synsets": {s.name(): describe(s) for s in synsets},
        "lemmas": {f"{word} {pos}": look_up(wn, word, pos) for word, pos in known},
        "morphy": {
            f"{form} {pos}": wn.morphy(form.lower(), pos)
            for pos, forms in FORMS.items()
            for form in forms.split()
        },
    }


def describe(synset: Any) -> dict[str, Any]:
    """Describe one synset."""
    return {
        "lemmas": [lemma.name() for lemma in synset.lemmas()],
        # NLTK makes a satellite's key from any of its heads, so it misses some of their counts.
        "counts": None if synset.pos() == "s" else [lemma.count() for lemma in synset.lemmas()],
        "hypernyms": names(synset.hypernyms() + synset.instance_hypernyms()),
        "hyponyms": names(synset.hyponyms() + synset.instance_hyponyms()),
        "paths": sorted([s.name() for s in path] for path in synset.hypernym_paths()),
        "instance": bool(synset.instance_hypernyms()),
        "min_depth": synset.min_depth(),
        "max_depth": synset.max_depth(),
        "entailments": names(synset.entailments()),
        "causes": names(synset.causes()),
        "similar": names(synset.similar_tos()),
    }


def look_up(wn: Any, word: str, pos: str) -> dict[str, Any]:
    """Look up a lemma, as it is and not under its base forms too."""
    own = wn.lemmas(word, pos)

    def links(relation: str) -> list[list[str]]:
        found = {
            (x.name(), x.synset().pos().replace("s", "a"))
            for lemma in own
            for x in getattr(lemma, relation)()
        }
        return [list(link) for link in sorted(found)]

    return {
        "synsets": list(dict.fromkeys(lemma.synset().name() for lemma in own)),
        "derived": links("derivationally_related_forms"),
        "antonyms": links("antonyms"),
    }


def lined(value: dict[str, Any]) -> str:
    """Write JSON with one answer a line, so that a change shows in a diff."""
    parts = []
    for key, part in value.items():
        opening, closing = "[]" if isinstance(part, list) else "{}"
        rows = part if isinstance(part, list) else part.items()
        lines = [
            json.dumps(row) if opening == "[" else f"{json.dumps(row[0])}: {json.dumps(row[1])}"
            for row in rows
        ]
        parts.append(f"{json.dumps(key)}: {opening}\n" + ",\n".join(lines) + f"\n{closing}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Write NLTK's answers about a sample of WordNet.")
    parser.add_argument("folder", type=Path, help="the dict folder of a WordNet release")
    default = Path(__file__).parents[1] / "tests" / "golden" / "wordnet_reference.json"
    parser.add_argument("--output", type=Path, default=default, help="the file to write")
    options = parser.parse_args()
    nltk = importlib.import_module("nltk")
    with tempfile.TemporaryDirectory() as folder:
        completed(options.folder, Path(folder) / "corpora" / "wordnet")
        nltk.data.path.insert(0, folder)
        wn = importlib.import_module("nltk.corpus").wordnet
        found = answers(wn)
        version = wn.get_version()
    note = {
        "made_by": "tools/wordnet_reference.py",
        "reference": f"nltk {nltk.__version__}",
        "wordnet": version,
        "data.noun": sha256((options.folder / "data.noun").read_bytes()).hexdigest(),
    }
    options.output.write_text(lined({"note": note, **found}))
    print(
        f"{options.output}: {len(found['wup'])} pairs, {len(found['synsets'])} synsets, "
        f"{len(found['lemmas'])} lemmas"
    )


if __name__ == "__main__":
    main()
