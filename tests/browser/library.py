"""Several documents for the browser: notes to be asked together, and a long report in a PDF."""

from pathlib import Path

from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace
from tests.unit.documents.pdf_maker import Page, pdf

NOTES = {
    "harbour/lock.md": (
        "---\ndate: 2019-04-01\n---\n# The lock of Esbjerg\n\n"
        "The council paid for a new lock. Cargo vessels pass the lock at dawn."
    ),
    "harbour/ferry.md": (
        "---\ndate: 2023-06-05\n---\n# The ferry of Esbjerg\n\n"
        "The ferry waits at the lock until noon. Sailors sleep aboard."
    ),
    "animals/hounds.md": "# Hounds\n\nHounds need long walks. A puppy sleeps twenty hours a day.",
    "accounts/accounts.md": (
        "# Accounts\n\n| Euro thousand | 2022 | 2023 |\n|---|---|---|\n"
        "| Repair of the lock | 120 | 35 |\n| Wages | 210 | 228 |\n\n"
        "## Again\n\n| Euro thousand | 2022 | 2023 |\n|---|---|---|\n"
        "| Repair of the lock | 120 | 35 |\n| Fees | 410 | 455 |\n"
    ),
}
PAGES = 150
TARGET = 88
SENTENCE = "The turbine of the northern dam was replaced by a Norwegian supplier."


def filled(folder: Path) -> Path:
    """Index the notes into a store, and return it."""
    for name, text in NOTES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return stored(folder, [folder / name for name in NOTES])


def stored(folder: Path, files: list[Path]) -> Path:
    """Index files into a store, and return it."""
    with Workspace(WorkspaceConfig(folder / "store.db")) as workspace:
        outcomes = list(workspace.indexing().index_paths(files))
    assert all(one.status == "indexed" for one in outcomes), outcomes
    return folder / "store.db"


def report() -> bytes:
    """Return a report of 150 pages that says one sentence on page 88 alone."""
    pages = []
    for number in range(1, PAGES + 1):
        page = Page()
        page.text(72, 72, f"Chapter {number}", size=14, font="bold")
        page.text(72, 100, f"Inspector {number} walked along the fence and counted sheep.", size=11)
        if number == TARGET:
            page.text(72, 130, SENTENCE, size=11)
        pages.append(page)
    return pdf(*pages)
