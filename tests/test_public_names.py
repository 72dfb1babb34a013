"""The public names are what they say, and every one of them is shown at work in the docs."""

import ast
import re
from pathlib import Path

import abstrag

API = Path(__file__).parent.parent / "docs" / "api.md"


def test_the_list_is_sorted_complete_and_small() -> None:
    assert abstrag.__all__ == sorted(abstrag.__all__)
    assert set(abstrag.__all__) == set(abstrag._HOMES)
    assert len(abstrag.__all__) <= 25


def test_every_name_can_be_had() -> None:
    for name in abstrag.__all__:
        assert callable(getattr(abstrag, name)), name


def test_the_function_index_is_not_hidden_by_a_package() -> None:
    from abstrag.indexing.pipeline import index

    assert abstrag.index is index


def test_every_name_has_an_example() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", API.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    used = {
        node.id for block in blocks for node in ast.walk(ast.parse(block)) if type(node) is ast.Name
    }
    assert [name for name in abstrag.__all__ if name not in used] == []
