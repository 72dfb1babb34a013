"""Three documents, ten questions, and four circumstances under which front ends are asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from abstrag.config import Settings
from abstrag.model.background import Background
from abstrag.model.patch import Alias, Patch, Stage
from abstrag.model.record import to_data, to_json
from abstrag.model.segment import Granularity
from abstrag.model.term import Family, Licence, LicenceKind, Relation
from abstrag.policy.store import PolicyStore
from abstrag.refine.patch_log import PatchLog, text_hash
from abstrag.workspace.options import WorkspaceConfig, hand_made
from abstrag.workspace.workspace import Workspace
from abstrag_bench.abstrag_system import to_document
from abstrag_bench.baselines.system import Element, ElementKind, Pool

TEXTS: Final = {
    "harbour": (
        "Harbour report 2023",
        "The harbour master counts the boats every morning. In March 2023 the ferry Aurora ran "
        "aground near the old pier. The lock was closed for nine days after the accident. Workers "
        "mend nets on the quay in winter. Berth fees rose by 4% in 2023. The council approved a "
        "new crane in June. Untreated wastewater reached the basin below the mill. The director "
        "of the port met the head of the shipyard last Tuesday. No vessel was lost. Tea is served "
        "in the office at four.",
    ),
    "lease": (
        "Lease of the warehouse",
        "The tenant rents the warehouse from Norden Ltd for five years. Either party may cancel "
        "the lease with six months notice. The tenant pays 2,400 euros a month. The landlord must "
        "repair the roof. Goods that burn easily may not be stored. If the tenant fails to pay, "
        "Norden may terminate the agreement at once. The lease begins on 1 April 2022. A boat "
        "may be kept in the yard. The deposit is three months of rent.",
    ),
    "survey": (
        "Survey of the mill stream",
        "We sampled water at six sites along the mill stream. The level of nitrate fell by a third "
        "between 2019 and 2022. Fish returned to the upper reach in spring. Sewage from the "
        "village was the main source of ammonia. The method follows an earlier study of rivers. "
        "Samples were frozen within an hour. Our results suggest that the new plant works. One "
        "site could not be reached after a storm. The engineer of the mill kept a diary of floods.",
    ),
}
QUESTIONS: Final = (
    "Where did sewage enter the water?",
    "When did the ship have an accident?",
    "How can the contract be ended?",
    "Who repairs the building?",
    "meetings between executives in 2023",
    "Did pollution decrease?",
    "What does the tenant pay every month?",
    "No boats were lost",
    "Which employee mends nets?",
    "How were the samples kept?",
)
BACKGROUND: Final = """
[aliases]
"Norden Ltd" = ["the owner of the warehouse"]
[classes]
Aurora = ["ship"]
[[events]]
source = "meet"
target = "meeting"
"""
ALIAS: Final = Alias("concept:wastewater", "concept:sewage", 0.05)
K: Final = 10


@dataclass(frozen=True)
class Circumstance:
    """Which store is asked, under which policy, and whether a Background was at hand."""

    name: str
    store: Path
    policy: Path
    background: Path | None = None


def pool(name: str) -> Pool:
    """Return a document as the benchmark is given it."""
    title, text = TEXTS[name]
    sentences = [f"{part.strip().rstrip('.')}." for part in text.split(". ")]
    elements = tuple(
        Element(f"e{number}", sentence, ElementKind.SENTENCE)
        for number, sentence in enumerate(sentences, 1)
    )
    return Pool(name, title, elements, granularity=Granularity.SENTENCE, date="2023-12-01")


def circumstances(folder: Path) -> dict[str, Circumstance]:
    """Index the documents plainly, with a Background, with a patch in force, edited by hand."""
    files = folder / "files"
    files.mkdir()
    for name in TEXTS:
        (files / f"{name}.json").write_text(to_json(to_document(pool(name)).document), "utf-8")
    background = folder / "known.toml"
    background.write_text(BACKGROUND, "utf-8")
    made = {
        name: Circumstance(name, folder / f"{name}.db", folder / name / "policy", given)
        for name, given in (
            ("plain", None),
            ("background", background),
            ("patched", None),
            ("edited", None),
        )
    }
    for one in made.values():
        config = WorkspaceConfig(
            one.store,
            background=one.background,
            settings=Settings(granularity=Granularity.SENTENCE.value),
            policy=one.policy,
        )
        with Workspace(config) as workspace:
            assert {o.status for o in workspace.indexing().index_paths([files])} == {"indexed"}
            if one.name == "patched":
                _keep_patch(workspace)
            if one.name == "edited":
                _edit(workspace)
    return made


def _keep_patch(workspace: Workspace) -> None:
    """Put a patch into force for the harbour report, as refinement does."""
    patch = Patch(Stage.MAP, ALIAS, Licence(LicenceKind.TEXT, "for a test"), 0.4)
    payload = {
        "action": "apply",
        "document": text_hash(workspace.index("harbour")),
        "id": patch.id,
        "patch": to_data(patch),
        "query": QUESTIONS[0],
    }
    patch_log = PatchLog(PolicyStore.open(workspace.patches.root))
    patch_log.store.audit(payload, accepted=True, reason="for a test", case="case")


def _edit(workspace: Workspace) -> None:
    edge = hand_made(
        workspace.index("lease"),
        source="concept:roof",
        target="concept:building",
        relation=Relation.IMPLIES,
        family=Family.CONCEPT,
    )
    workspace.edits.add("lease", edge)


def known(circumstance: Circumstance) -> Background:
    """Return the Background of a circumstance."""
    return Background.load(circumstance.background) if circumstance.background else Background()
