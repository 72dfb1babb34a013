"""Files on their way in and out: uploads, jobs, pages, edits."""

import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.documents.pdf_maker import HEIGHT, WIDTH, Page, pdf, width
from tests.unit.server.running import Client, running

SENTENCE = "The committee of Basel approved the new bridge over the Rhine in May."
FILLER = "Nothing else of interest happened in the town that year, say the records."


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("documents") / "store.db"


@pytest.fixture(scope="module")
def client(store: Path) -> Iterator[Client]:
    with running(store, max_upload_bytes=300_000) as made:
        yield made


def paper() -> bytes:
    """Two pages that say the sentence once each; on the second one it is broken over two lines."""
    first, second = Page(), Page(rotate=90)
    first.text(50, 60, "Bridges of Basel", size=18, font="bold")
    first.lines(50, 100, [FILLER, SENTENCE, FILLER])
    head, tail = SENTENCE.split(" the new ")
    second.lines(50, 200, [FILLER, f"{head} the new", tail, FILLER])
    return pdf(first, second)


@pytest.fixture(scope="module")
def uploaded(client: Client) -> dict[str, Any]:
    return client.indexed("bridges.pdf", paper())


def test_an_upload_becomes_a_document(client: Client, uploaded: dict[str, Any]) -> None:
    assert (uploaded["state"], uploaded["document"]) == ("done", "bridges")
    assert uploaded["steps_done"] == uploaded["steps_total"] == 9
    (info,) = [one for one in client.get("/api/documents").data if one["id"] == "bridges"]
    assert (info["pages"], info["has_pdf"]) == (2, True)


def test_the_same_file_twice_is_one_document(client: Client, uploaded: dict[str, Any]) -> None:
    again = client.indexed("other-name.pdf", paper())
    assert again["document"] == uploaded["document"]


def test_a_job_is_told_as_events(client: Client) -> None:
    job = client.upload("note.txt", b"A short note about the weather in Bern.").data["job"]
    told = client.get(f"/api/jobs/{job}/events")
    assert told.headers["content-type"].startswith("text/event-stream")
    events = [json.loads(e.removeprefix(b"data: ")) for e in told.body.split(b"\n\n") if e]
    assert events[-1]["state"] == "done"
    assert events[-1]["document"] == "note"
    done = [event["steps_done"] for event in events]
    assert done == sorted(done)
    assert client.get("/api/jobs/nothing").status == 404


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("broken.pdf", b"%PDF-1.7 and then nothing", "Damaged"),
        ("picture.gif", b"GIF89a" + bytes(200), "UnknownFormat"),
        ("blank.md", b"  \n ", "EmptyDocument"),
    ],
)
def test_a_file_that_cannot_be_indexed_says_why_and_is_not_kept(
    client: Client, store: Path, name: str, content: bytes, kind: str
) -> None:
    ended = client.indexed(name, content)
    assert (ended["state"], ended["error"]["kind"]) == ("failed", kind)
    assert name in ended["error"]["error"]
    assert not list((store.parent / "store.db.studio" / "uploads").glob(f"*/{name}"))


def test_an_empty_upload_is_refused_at_once(client: Client) -> None:
    answer = client.upload("empty.md", b"")
    assert (answer.status, answer.data["kind"]) == (422, "EmptyDocument")


def test_a_file_is_sent_as_bytes_and_nothing_else(client: Client) -> None:
    answer = client.call(
        "POST", "/api/documents?name=a.md", body=b"text", headers={"Content-Type": "text/plain"}
    )
    assert (answer.status, answer.data["kind"]) == (415, "WrongType")


def test_a_forgotten_document_takes_its_file_along(client: Client, store: Path) -> None:
    name = client.indexed("gone.md", b"# Gone\n\nThe mayor of Chur opened a museum.")["document"]
    kept = store.parent / "store.db.studio" / "uploads"
    assert list(kept.glob("*/gone.md"))
    assert client.call("DELETE", f"/api/documents/{name}").status == 204
    assert client.get(f"/api/documents/{name}").status == 404
    assert not list(kept.glob("*/gone.md"))


def pixels(picture: bytes) -> tuple[int, int, list[bytes]]:
    """Read a PNG file of ours back into rows of red, green and blue."""
    across, down = struct.unpack(">II", picture[16:24])
    at, data = 8, b""
    while at < len(picture):
        (length,) = struct.unpack(">I", picture[at : at + 4])
        kind, body = picture[at + 4 : at + 8], picture[at + 8 : at + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", picture[at + 8 + length :][:4])[0]
        data += body if kind == b"IDAT" else b""
        at += 12 + length
    raw, rows, above = zlib.decompress(data), [], bytes(3 * across)
    for start in range(0, len(raw), 3 * across + 1):
        assert raw[start] == 2
        line = raw[start + 1 : start + 1 + 3 * across]
        above = bytes((a + b) & 255 for a, b in zip(line, above, strict=True))
        rows.append(above)
    return across, down, rows


def has_ink(picture: bytes, box: list[float]) -> bool:
    across, down, rows = pixels(picture)
    x0, y0, x1, y1 = (round(v * s) for v, s in zip(box, (across, down) * 2, strict=True))
    return any(min(row[3 * x0 : 3 * x1]) < 128 for row in rows[y0:y1])


def span_of(client: Client, page: int) -> dict[str, int]:
    shown = client.get("/api/documents/bridges").data
    (segment,) = [s for s in shown["segments"] if s["text"] == SENTENCE and s["page"] == page]
    span: dict[str, int] = segment["span"]
    return span


def test_a_quote_is_found_where_it_stands_on_the_page(
    client: Client, uploaded: dict[str, Any]
) -> None:
    span = span_of(client, 1)
    at = f"/api/documents/bridges/pages/1/boxes?start={span['start']}&end={span['end']}"
    found = client.get(at).data
    assert (found["page"], found["width"], found["height"]) == (1, WIDTH, HEIGHT)
    ((x0, y0, x1, y1),) = found["boxes"]
    assert x0 * WIDTH == pytest.approx(50, abs=2)
    assert x1 * WIDTH == pytest.approx(50 + width(SENTENCE), abs=4)
    assert y0 * HEIGHT < 112 < y1 * HEIGHT + 4  # the base line of the second line
    assert (y1 - y0) * HEIGHT < 16
    picture = client.get("/api/documents/bridges/pages/1.png?width=300")
    assert picture.headers["content-type"] == "image/png"
    assert has_ink(picture.body, found["boxes"][0])
    assert not has_ink(picture.body, [0.1, 0.5, 0.9, 0.9])


def test_a_quote_over_two_lines_of_a_turned_page_has_two_boxes(
    client: Client, uploaded: dict[str, Any]
) -> None:
    span = span_of(client, 2)
    at = f"/api/documents/bridges/pages/2/boxes?start={span['start']}&end={span['end']}"
    found = client.get(at).data
    assert (found["width"], found["height"]) == (HEIGHT, WIDTH)
    assert len(found["boxes"]) == 2
    picture = client.get("/api/documents/bridges/pages/2.png?width=400").body
    assert pixels(picture)[:2] == (400, 300)
    assert all(has_ink(picture, box) for box in found["boxes"])


def test_what_is_not_on_a_page_has_no_box(client: Client, uploaded: dict[str, Any]) -> None:
    span = span_of(client, 1)
    at = f"/api/documents/bridges/pages/1/boxes?start={span['start']}&end={span['start']}"
    assert client.get(at).data["boxes"] == []


def test_there_is_no_picture_of_what_is_no_page(client: Client, uploaded: dict[str, Any]) -> None:
    assert client.get("/api/documents/bridges/pages/3.png").status == 404
    assert client.get("/api/documents/bridges/pages/0.png").status == 404
    assert client.get("/api/documents/bridges/pages/1.png?width=1000000").status == 422
    client.indexed("plain.md", b"# Plain\n\nA text without pages about Zug.")
    refused = client.get("/api/documents/plain/pages/1.png")
    assert (refused.status, refused.data["kind"]) == (404, "NotThere")


def test_a_file_that_has_changed_since_is_not_shown(client: Client, store: Path) -> None:
    page = Page().text(50, 60, "The library of Thun lends books on Mondays and on Fridays.")
    name = client.indexed("library.pdf", pdf(page))["document"]
    assert client.get(f"/api/documents/{name}/pages/1.png").status == 200
    (path,) = (store.parent / "store.db.studio" / "uploads").glob("*/library.pdf")
    path.write_bytes(paper())
    assert client.get(f"/api/documents/{name}/pages/1.png").status == 404


def test_no_answer_tells_where_files_lie(tmp_path: Path) -> None:
    with running(tmp_path / "store.db") as client:
        assert client.indexed("fair.txt", b"The mayor opened the fair in 1901.")["state"] == "done"
        asked = {"query": "Who opened the fair?", "judge": False}
        answers = [
            client.get("/api/documents"),
            client.get("/api/documents/fair"),
            client.get("/api/documents/fair/map"),
            client.post("/api/documents/fair/search", asked),
            client.post("/api/search", asked),
            client.get("/api/health"),
        ]
        assert {one.status for one in answers} == {200}
        assert [one for one in answers if str(tmp_path) in json.dumps(one.data)] == []
        assert answers[0].data[0]["source_path"] == "fair.txt"


def test_the_api_describes_what_it_takes_and_gives(tmp_path: Path) -> None:
    with running(tmp_path / "store.db") as client:
        described = client.get("/openapi.json").data["components"]["schemas"]
        assert "ms" in described["TimedRanking"]["properties"]
        assert "ms" in described["TimedCollectionRanking"]["properties"]
        most = described["SearchIn"]["properties"]["query"]["maxLength"]
        at = "/api/documents/none/search"
        assert client.post(at, {"query": "a" * (most + 1)}).status == 422
