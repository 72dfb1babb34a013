"""Hits and citations in a sheet say which cell they stand in."""

from pathlib import Path

from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace

PRICES = "Part,Price,Stock\nValve,18400,2\nPump,52000,0\n"


def test_a_hit_in_a_sheet_names_its_cell_or_row_and_one_in_a_text_names_none(
    tmp_path: Path,
) -> None:
    (tmp_path / "prices.csv").write_text(PRICES)
    (tmp_path / "note.txt").write_text("Prices (A1:C3)\n\nThe pump has a price of 52000.")
    with Workspace(WorkspaceConfig(tmp_path / "s.db")) as workspace:
        sheet = workspace.document(tmp_path / "prices.csv")
        hits = sheet.search("What is the price of the pump?", k=3).hits
        assert hits[0].cell in ("B3", "A3:C3")
        answer = sheet.ask("What is the price of the pump?")
        assert answer.evidence[0].cell == hits[0].cell
        text = workspace.document(tmp_path / "note.txt")
        assert text.search("What is the price of the pump?", k=1).hits[0].cell is None
