"""Tables of text, our own JSON and pictures that cost more than they say."""

import json
import struct
import zlib

from tests.fuzz.crafted.family import MIDDLE, SMALL, Family

_PLAIN = "The port leased Pier 4 to Lind Shipping."


def _json(name: str, make: object, sizes: tuple[int, ...] = SMALL) -> Family:
    return Family(name, "json", make, sizes)  # type: ignore[arg-type]


def _short(**block: object) -> str:
    return json.dumps({"title": "Harbour", "blocks": [{"text": _PLAIN}, {"text": "a", **block}]})


def _whole(**changed: object) -> str:
    block = {
        "kind": "paragraph",
        "text": _PLAIN,
        "span": {"start": 0, "end": len(_PLAIN)},
        "alignment": {"starts": [0], "offsets": [0]},
        **changed,
    }
    return json.dumps({"id": "a", "title": "Harbour", "text": _PLAIN, "blocks": [block]})


def _png(width: int, height: int, data: bytes) -> bytes:
    def chunk(kind: bytes, held: bytes) -> bytes:
        return (
            struct.pack(">I", len(held)) + kind + held + struct.pack(">I", zlib.crc32(kind + held))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", data), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


FAMILIES = (
    Family("rows", "csv", lambda n: "a,b\n" + "1,2\n" * n, SMALL),
    Family("columns", "csv", lambda n: "a," * n + "b\n" + "1," * n + "2\n", (10, 1_000, 20_000)),
    Family(
        "uneven rows", "csv", lambda n: "\n".join("a," * (i % 50) + "b" for i in range(n)), SMALL
    ),
    Family("quotes", "csv", lambda n: "a,b\n" + '"' * n + ",1\n", MIDDLE),
    Family("an open quote", "csv", lambda n: 'a,b\n"' + "1,2\n" * n, MIDDLE),
    Family("a long cell", "csv", lambda n: f"a,b\n{_PLAIN} {'word ' * n},1\n", MIDDLE),
    Family("empty cells", "csv", lambda n: "a,b\n1,2\n" + ",\n" * n, MIDDLE),
    Family("delimiters", "csv", lambda n: "a;b,c\td|e\n" * n, SMALL),
    Family("numbers", "csv", lambda n: "a,b\n" + f"{'9' * n},1e{n}\n" * 3, SMALL),
    Family("formulas", "csv", lambda n: "a,b\n" + "=cmd|' /C calc'!A0,1\n" * n, SMALL),
    Family("zero bytes", "csv", lambda n: "a,b\n" + "\0,1\n" * n, SMALL),
    Family("tabs", "tsv", lambda n: "a\tb\n" + "1\t2\n" * n, SMALL),
    _json("lists in lists", lambda n: "[" * n + "]" * n, MIDDLE),
    _json("blocks in lists", lambda n: '{"blocks":' + "[" * n + "]" * n + "}", MIDDLE),
    _json("blocks", lambda n: json.dumps({"blocks": [{"text": _PLAIN}] * n}), (10, 100, 1_000)),
    _json(
        "headings",
        lambda n: json.dumps(
            {
                "blocks": [
                    {"kind": "heading", "text": f"H{i}", "level": i % 90 + 1} for i in range(n)
                ]
                + [{"text": _PLAIN}]
            }
        ),
    ),
    _json("a level", lambda n: _short(kind="heading", level=n), (0, -1, 100, 101, 10**12)),
    _json("a page", lambda n: _short(page=n), (0, -1, 2**31, 2**63, 10**17)),
    _json("digits", lambda n: _short(page=1).replace('"page": 1', f'"page": {"9" * n}')),
    _json("rows of a table", lambda n: _short(kind="table", rows=[["a", "b"]] * n)),
    _json("a row of a table", lambda n: _short(kind="table", rows=[["a"] * n])),
    _json(
        "header rows",
        lambda n: _short(kind="table", rows=[["a"], ["b"]], header_rows=n),
        (0, -1, 5, 10**9),
    ),
    _json("a long section", lambda n: _short(section=["a"] * n)),
    _json(
        "a span beyond", lambda n: _whole(span={"start": 0, "end": n}), (0, 1, 39, 10**6, 10**17)
    ),
    _json("a span before", lambda n: _whole(span={"start": -n, "end": 5}), (1, 10**6)),
    _json(
        "an alignment",
        lambda n: _whole(alignment={"starts": list(range(n)), "offsets": list(range(n))}),
    ),
    _json(
        "an odd alignment",
        lambda n: _whole(alignment={"starts": [0, n], "offsets": [n, 0]}),
        (1, 10**6, 10**17),
    ),
    _json("a strange kind", lambda n: _whole(kind="x" * n)),
    _json(
        "keys",
        lambda n: json.dumps({"blocks": [{"text": _PLAIN}], **{f"k{i}": i for i in range(n)}}),
    ),
    _json("the same key", lambda n: '{"blocks": [{"text": "a"}]' + ', "title": "b"' * n + "}"),
    _json("half a character", lambda n: '{"blocks": [{"text": "' + "\\ud800" * n + '"}]}'),
    _json("not a number", lambda n: '{"blocks": [{"text": "a", "page": NaN}]' + " " * n + "}"),
    _json("a long id", lambda n: json.dumps({"id": "a" * n, "blocks": [{"text": _PLAIN}]}), MIDDLE),
    Family(
        "a large picture",
        "png",
        lambda n: _png(n, n, zlib.compress(b"\0" * 100)),
        (1, 100_000, 2**31 - 1),
    ),
    Family("a picture of nothing", "png", lambda n: _png(8, 8, b"\0" * n), (0, 100)),
    Family(
        "a picture that unpacks",
        "png",
        lambda n: _png(8, 8, zlib.compress(b"\0" * n)),
        (10_000, 50_000_000),
    ),
)
