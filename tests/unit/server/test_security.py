"""What an attacker tries: each is refused or comes to nothing, and the server stays up."""

import io
import json
import socket
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from abstrag.errors import InputError
from abstrag.server.settings import ServerSettings
from tests.unit.server.running import FILE, Client, running, store_with_demo

TOKEN = "open-sesame"
LIMIT = 200_000
AT = "/api/documents/chips"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("security")


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[Client]:
    store = store_with_demo(folder / "store.db")
    with running(store, max_upload_bytes=LIMIT) as made:
        yield made


@pytest.fixture(scope="module")
def impatient(folder: Path, client: Client) -> Iterator[Client]:
    with running(folder / "store.db", head_limit_s=0.6, idle_limit_s=0.6) as made:
        yield made


@pytest.fixture(autouse=True)
def _still_alive(client: Client) -> Iterator[None]:
    yield
    assert client.alive()


@pytest.fixture(scope="module")
def guarded(folder: Path, client: Client) -> Iterator[Client]:
    with running(folder / "store.db", host="0.0.0.0", token=TOKEN, names=("studio.example",)) as c:
        yield c


def test_a_server_for_others_cannot_be_made_without_a_token() -> None:
    with pytest.raises(InputError, match="without a token"):
        ServerSettings(host="0.0.0.0")


@pytest.mark.parametrize(
    "given",
    ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}"],
)
def test_without_the_token_nothing_is_told(guarded: Client, given: str) -> None:
    headers = {"Authorization": given} if given else {}
    for method, path in [
        ("GET", "/api/health"),
        ("GET", "/api/documents"),
        ("POST", f"{AT}/search"),
        ("DELETE", AT),
        ("GET", "/api/nowhere"),
    ]:
        refused = guarded.call(method, path, headers=headers)
        assert (refused.status, refused.data["kind"]) == (401, "NoToken")
        assert refused.headers["www-authenticate"] == "Bearer"


def test_the_token_opens_and_the_page_itself_needs_none(guarded: Client) -> None:
    assert guarded.get("/api/health", Authorization=f"Bearer {TOKEN}").status == 200
    assert guarded.get("/").status == 200
    assert TOKEN not in repr(ServerSettings(token=TOKEN))


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8377", "127.0.0.1.evil.example", "localhost.evil.example"],
)
def test_a_name_that_is_not_ours_is_refused(client: Client, guarded: Client, host: str) -> None:
    refused = client.get("/api/documents", Host=host)
    assert (refused.status, refused.data["kind"]) == (403, "Foreign")
    assert client.get("/", Host=host).status == 403
    assert guarded.get("/api/health", Host=host, Authorization=f"Bearer {TOKEN}").status == 403


def test_our_own_names_are_served(client: Client, guarded: Client) -> None:
    for host in ("localhost", f"localhost:{client.port}", "127.0.0.1", "[::1]:80"):
        assert client.get("/api/health", Host=host).status == 200
    assert client.get("/api/health", Host="192.0.2.7").status == 403  # only loopback listens
    for host in ("studio.example", "192.0.2.7:8377"):
        assert guarded.get("/api/health", Host=host, Authorization=f"Bearer {TOKEN}").status == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1", "http://localhost:1", "file://"]
)
def test_a_page_of_another_site_can_do_nothing(client: Client, origin: str) -> None:
    for method, path in [("DELETE", AT), ("POST", f"{AT}/edges"), ("GET", "/api/documents")]:
        refused = client.call(method, path, headers={"Origin": origin})
        assert (refused.status, refused.data["kind"]) == (403, "Foreign")
    upload = client.call(
        "POST",
        "/api/documents?name=a.md",
        body=b"text",
        headers={"Origin": origin, "Content-Type": FILE},
    )
    assert upload.status == 403
    assert client.get(AT).status == 200


def test_an_origin_that_is_none_is_foreign(client: Client) -> None:
    for origin in ("http://[", "http://[::1", "null", "http://]x"):
        refused = client.call("GET", "/api/documents", headers={"Origin": origin})
        assert (refused.status, refused.data["kind"]) == (403, "Foreign")


def test_a_body_that_trickles_has_a_deadline(folder: Path) -> None:
    with running(folder / "slow.db", body_limit_s=0.5) as made:
        connection = socket.create_connection(("127.0.0.1", made.port), timeout=30)
        with connection:
            head = f"POST /api/documents/x/search HTTP/1.1\r\nHost: 127.0.0.1:{made.port}\r\n"
            head += "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
            connection.sendall(head.encode())
            connection.settimeout(0.05)
            answer = b""
            while not answer:
                connection.sendall(b" ")  # always in time, and never done
                try:
                    answer = connection.recv(4096)
                except TimeoutError:
                    continue
        assert answer.startswith(b"HTTP/1.1 408")


def test_our_own_page_can(client: Client) -> None:
    own = {"Origin": f"http://127.0.0.1:{client.port}"}
    assert client.call("POST", f"{AT}/search", data={"query": "chip"}, headers=own).status == 200


def test_every_answer_forbids_scripts_from_elsewhere(client: Client) -> None:
    for path in ("/", "/api/documents", "/api/nowhere", "/openapi.json"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "unsafe-inline" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers
    assert client.get("/api/documents").headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e%2f%2e%2e%2ferrors.py",
        "/static//etc/passwd",
        "/../../etc/passwd",
        "/api/documents/..%2f..%2f..%2fetc%2fpasswd",
        "/api/documents/%2fetc%2fpasswd/pages/1.png",
        "/api/jobs/..%2f..%2fstore.db",
    ],
)
def test_no_address_leads_out_of_its_folder(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status in (403, 404)
    assert b"root:" not in answer.body
    assert b"import" not in answer.body


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../../../escape.md", "escape.md"),
        ("..%5C..%5Cescape2.md", "escape2.md"),
        ("/etc/cron.d/escape3.md", "escape3.md"),
        ("%00escape4.md", "_escape4.md"),
        (".%2e", "document"),
        ("x" * 400 + ".md", "x" * 78 + ".md"),
        ("%3Cimg%20src=x%20onerror=alert(1)%3E.md", "_img src_x onerror_alert(1)_.md"),
    ],
)
def test_a_file_name_is_never_a_path(client: Client, folder: Path, name: str, kept: str) -> None:
    content = f"# A title\n\nThe name was {kept} and the mayor of Bern read it.".encode()
    ended = client.indexed(name, content)
    assert ended["state"] == "done"
    uploads = (folder / "store.db.studio" / "uploads").resolve()
    (path,) = uploads.glob(f"*/{kept.replace('[', '[[]')}")
    assert path.read_bytes() == content
    assert not list(folder.glob("*escape*"))
    assert client.call("DELETE", f"/api/documents/{ended['document']}").status == 204


def test_a_latex_file_cannot_pull_in_files_of_the_server(client: Client, folder: Path) -> None:
    secret = folder / "secret.tex"
    secret.write_text("The secret of the server is forty-two.")
    for target in (str(secret), "../../../secret", "/etc/passwd"):
        source = rf"\documentclass{{article}}\begin{{document}}Hello. \input{{{target}}} Bye."
        ended = client.indexed("thesis.tex", (source + r"\end{document}").encode())
        assert (ended["state"], ended["error"]["kind"]) == ("failed", "Damaged")
        assert "forty-two" not in json.dumps(ended)


def bomb() -> bytes:
    """Return a Word file of a few kilobytes that unpacks to 400 MB."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        with archive.open("word/document.xml", "w", force_zip64=True) as part:
            for _ in range(400):
                part.write(bytes(1024 * 1024))
    return made.getvalue()


def test_a_zip_bomb_is_refused_before_it_goes_off(folder: Path, client: Client) -> None:
    content = bomb()
    with running(folder / "bomb.db", max_upload_bytes=10 * len(content)) as roomy:
        ended = roomy.indexed("bomb.docx", content)
        assert (ended["state"], ended["error"]["kind"]) == ("failed", "FileTooLarge")
        assert roomy.indexed("after.md", b"The worker is still there.")["state"] == "done"


def test_a_gigabyte_is_refused_before_it_is_sent(client: Client) -> None:
    with socket.create_connection(("127.0.0.1", client.port), timeout=30) as sock:
        head = (
            f"POST /api/documents?name=big.pdf HTTP/1.1\r\nHost: localhost\r\n"
            f"Content-Type: {FILE}\r\nContent-Length: {2**30}\r\n\r\n"
        )
        sock.sendall(head.encode())
        answer = sock.recv(65536)
    assert b" 413 " in answer.split(b"\r\n")[0]
    assert b"connection: close" in answer.lower()


def test_an_upload_of_unsaid_length_is_cut_off_at_the_limit(client: Client, folder: Path) -> None:
    piece = b"10000\r\n" + bytes(0x10000) + b"\r\n"
    sent = 0
    answer = b""
    with socket.create_connection(("127.0.0.1", client.port), timeout=30) as sock:
        head = (
            "POST /api/documents?name=big.pdf HTTP/1.1\r\nHost: localhost\r\n"
            f"Content-Type: {FILE}\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        sock.sendall(head.encode())
        try:
            while sent < 2**30:
                sock.sendall(piece)
                sent += len(piece)
        except ConnectionError:  # the server has hung up
            pass
        try:
            answer = sock.recv(65536)
        except ConnectionError:
            answer = b""  # its answer was lost with the connection
    assert sent < 128 * 2**20  # what is thrown away while the refusal is read, and no more
    assert answer == b"" or b" 413 " in answer.split(b"\r\n")[0]
    uploads = folder / "store.db.studio" / "uploads"
    deadline = time.monotonic() + 30
    while (left := list(uploads.glob("*.part"))) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


def test_a_body_that_is_no_upload_has_a_limit_of_its_own(client: Client) -> None:
    refused = client.post(f"{AT}/search", {"query": "x" * 2_000_000})
    assert (refused.status, refused.data["kind"]) == (413, "TooLarge")


def test_mark_up_in_a_document_stays_text(client: Client) -> None:
    attack = b"# <img src=x onerror=alert(1)>\n\nMr. `</script><script>alert(2)</script>` met Bern."
    ended = client.indexed("attack.md", attack)
    name = ended["document"]
    found = client.post(f"/api/documents/{name}/search", {"query": "Who met Bern?"})
    for answer in (found, client.get("/api/documents"), client.get(f"/api/documents/{name}")):
        assert answer.headers["content-type"] == "application/json"
        assert b"<" not in answer.body  # escaped, so that nothing can take it for mark-up
    assert "<script>alert(2)</script>" in found.data["hits"][0]["text"]


def left_open(client: Client, start: bytes) -> bytes:
    """Send the start of a request and nothing more; return what comes back until we are alone."""
    with socket.create_connection(("127.0.0.1", client.port), timeout=10) as sock:
        sock.sendall(start)
        got = b""
        while piece := sock.recv(65536):  # and a `TimeoutError` where nobody hangs up
            got += piece
        return got


def test_a_client_that_never_finishes_its_head_is_hung_up_on(impatient: Client) -> None:
    got = left_open(impatient, b"GET /api/health HTTP/1.1\r\nHost: loc")
    assert got == b""


def test_a_second_head_that_never_ends_is_no_way_around_that(impatient: Client) -> None:
    whole = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    got = left_open(impatient, whole + b"GET /api/health HTTP/1.1\r\nHost: loc")
    assert got.startswith(b"HTTP/1.1 200")


def test_a_client_that_never_finishes_its_body_is_told_and_hung_up_on(impatient: Client) -> None:
    for path, kind in ((f"{AT}/search", "application/json"), ("/api/documents?name=a.md", FILE)):
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
        got = left_open(impatient, f"{head}Content-Length: 100\r\n\r\n{{".encode())
        assert b" 408 " in got.split(b"\r\n")[0]
        assert b'"kind":"TooSlow"' in got


def test_a_client_that_never_reads_is_hung_up_on(impatient: Client) -> None:
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.settimeout(30)
        sock.connect(("127.0.0.1", impatient.port))
        request = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
        began = time.monotonic()
        hung_up = False
        while not hung_up and time.monotonic() - began < 30:
            try:
                sock.sendall(request * 200)
            except ConnectionError:
                hung_up = True
            time.sleep(0.05)
        assert hung_up
