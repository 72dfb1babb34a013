"""What `tools/code_size.py` counts: no public class shares its name, no packages go in a circle."""

from pathlib import Path

from tools.code_size import HERE, Code

CODE = Code(*HERE)


def test_no_two_public_classes_share_a_name() -> None:
    assert CODE.classes_twice() == {}


def test_no_two_packages_import_each_other() -> None:
    assert CODE.mutual_packages() == []


def test_what_is_wrong_is_seen(tmp_path: Path) -> None:
    written = {
        "house/__init__.py": "",
        "house/one/__init__.py": "",
        "house/one/roof.py": "from house.two.roof import TILES\nclass Roof: ...\n",
        "house/two/__init__.py": "",
        "house/two/roof.py": "TILES = 3\nclass Roof: ...\nclass _Beam: ...\n",
        "house/two/wall.py": "from house.one.roof import Roof\nfrom house.two.roof import TILES\n",
    }
    for name, text in written.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    code = Code(tmp_path)
    assert code.classes_twice() == {"Roof": ["house.one.roof", "house.two.roof"]}
    assert code.mutual_packages() == [("house.one", "house.two")]
    assert sum(code.lines.values()) == 7
    assert code.with_one_user() == []
