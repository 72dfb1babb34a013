"""How much at a time: a bounded line for the judge, and indexing that holds nobody up."""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from abstrag.config import DocumentBudget
from abstrag.model.query import Query
from abstrag.model.segment import Segment
from abstrag.workspace.tour import DEMO_QUERY
from tests.unit.server.running import running, store_with_demo

AT = "/api/documents/chips"


class SlowJudge:
    """Finds everything likely, once it is allowed to speak."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.asked = 0

    def __call__(self, query: Query, segments: Sequence[Segment]) -> list[float]:
        self.asked += 1
        assert self.go.wait(30)
        return [0.5] * len(segments)


def test_beyond_the_judges_line_everybody_is_told_to_come_back(tmp_path: Path) -> None:
    judge = SlowJudge()
    store = store_with_demo(tmp_path / "store.db")
    asked = {"query": DEMO_QUERY, "k": 2}
    with (
        running(store, judge=judge, judged_threads=1, judged_waiting=2) as client,
        ThreadPoolExecutor(8) as pool,
    ):
        assert client.get("/api/health").data["judge"] is True
        calls = [pool.submit(client.post, f"{AT}/search", asked) for _ in range(8)]
        deadline = time.monotonic() + 20
        while sum(call.done() for call in calls) < 5 and time.monotonic() < deadline:
            time.sleep(0.02)
        refused = [call.result() for call in calls if call.done()]
        assert {answer.status for answer in refused} == {429}
        assert len(refused) == 5
        assert refused[0].headers["retry-after"] == "2"
        assert refused[0].data["kind"] == "TooBusy"
        # nobody who does without the judge has to wait for it
        assert client.post(f"{AT}/search", {"query": DEMO_QUERY, "judge": False}).status == 200
        judge.go.set()
        served = [call.result() for call in calls if call.result().status == 200]
        assert len(served) == 3
        assert served[0].data["hits"][0]["judgement"] == 0.5
        assert served[0].data["judgements"] > 0
        assert client.post(f"{AT}/search", asked).status == 200


def long_text(paragraphs: int) -> bytes:
    """Return a text that takes a while to index."""
    said = "In {year}, the council of town {n} asked firm {n} to build bridge {n} over the river."
    return "\n\n".join(said.format(year=1900 + n % 100, n=n) for n in range(paragraphs)).encode()


def test_searches_are_answered_while_a_file_is_indexed(tmp_path: Path) -> None:
    with running(store_with_demo(tmp_path / "store.db")) as client:
        asked = {"query": DEMO_QUERY, "judge": False}
        client.post(f"{AT}/search", asked)
        job = client.upload("towns.txt", long_text(80)).data["job"]
        during = 0
        while client.get(f"/api/jobs/{job}").data["state"] in ("queued", "running"):
            assert client.post(f"{AT}/search", asked).status == 200
            during += 1
        assert client.get(f"/api/jobs/{job}").data["state"] == "done"
        assert during >= 3  # one that waits for the file would be the only one


def test_a_full_queue_of_files_is_said_to_be_full(tmp_path: Path) -> None:
    with running(tmp_path / "store.db", jobs_waiting=1) as client:
        answers = [client.upload(f"{n}.txt", long_text(20 + n)) for n in range(6)]
        full = [answer for answer in answers if answer.status == 429]
        assert full
        assert full[0].data["kind"] == "TooBusy"
        kept = {path.name for path in (tmp_path / "store.db.studio").glob("uploads/*/*")}
        assert len(kept) <= 6 - len(full)  # nothing of what was refused
        for answer in answers:
            if answer.status == 202:
                assert client.ended(answer.data["job"])["state"] == "done"


def test_a_worker_that_dies_fails_its_job_and_is_replaced(tmp_path: Path) -> None:
    with running(tmp_path / "store.db", budget=DocumentBudget(seconds=0.2)) as client:
        ended = client.indexed("towns.txt", long_text(50))  # 0.2 s do not even load the parser
        assert (ended["state"], ended["error"]["kind"]) == ("failed", "TooCostly")
        assert "MAX_SECONDS" in ended["error"]["error"]
        assert client.alive()


def test_an_upload_over_its_memory_is_set_aside_across_restarts_and_holds_up_nobody(
    tmp_path: Path,
) -> None:
    store, costly = tmp_path / "store.db", long_text(2000)
    with running(store, budget=DocumentBudget(memory_bytes=2**20)) as client:
        job = client.upload("costly.txt", costly).data["job"]
        ended = client.ended(job)
        assert "MAX_MEMORY_BYTES" in ended["error"]["error"]
    assert not any((tmp_path / "store.db.studio" / "uploads").glob("*"))
    with running(store) as client:
        again = client.indexed("renamed.txt", costly)
        assert (again["state"], again["error"]["kind"]) == ("failed", "TooCostly")
        assert "set aside" in again["error"]["error"]
        assert client.indexed("fair.txt", b"The mayor opened the fair.")["state"] == "done"
        retried = client.call(
            "POST",
            "/api/documents?name=costly.txt&retry=true",
            body=costly,
            headers={"Content-Type": "application/octet-stream"},
        )
        job = retried.data["job"]
        while client.get(f"/api/jobs/{job}").data["state"] == "queued":
            time.sleep(0.02)
        assert client.get(f"/api/jobs/{job}").data["error"] is None


def test_an_upload_that_ended_two_servers_is_not_given_to_a_third(tmp_path: Path) -> None:
    folder = tmp_path / "store.db.studio" / "uploads"
    for name in ("0123", "4567"):
        (folder / name).mkdir(parents=True)
    (folder / "0123" / "bad.txt").write_text("The mayor of Aarau opened the fair.")
    (folder / "0123.tries").write_text("2")
    (folder / "4567" / "good.txt").write_text("The mayor of Brugg closed the fair.")
    with running(tmp_path / "store.db") as client:
        deadline = time.monotonic() + 60
        while not (listed := client.get("/api/documents").data) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert [one["id"] for one in listed] == ["good"]
    assert not (folder / "0123").exists()
    (entry,) = (tmp_path / "store.db.studio" / "quarantine").glob("*.json")
    assert "the server ended 2 times" in entry.read_text()


def test_jobs_that_wait_or_run_can_be_cancelled_and_the_next_is_done(tmp_path: Path) -> None:
    with running(tmp_path / "store.db") as client:
        first = client.upload("first.txt", long_text(3000)).data["job"]
        second = client.upload("second.txt", long_text(3001)).data["job"]
        third = client.upload("third.txt", b"The mayor opened the fair.").data["job"]
        while client.get(f"/api/jobs/{first}").data["state"] == "queued":
            time.sleep(0.02)
        for job in (second, first):
            answer = client.call("DELETE", f"/api/jobs/{job}")
            assert (answer.status, answer.data["state"]) == (200, "cancelled")
        assert client.ended(third)["state"] == "done"
        assert client.call("DELETE", f"/api/jobs/{third}").data["state"] == "done"
        assert client.get(f"/api/jobs/{first}").data["state"] == "cancelled"
        assert client.call("DELETE", "/api/jobs/none").status == 404
        assert [one["id"] for one in client.get("/api/documents").data] == ["third"]
    kept = (tmp_path / "store.db.studio" / "uploads").glob("*/*")
    assert [path.name for path in kept] == ["third.txt"]
    assert not any((tmp_path / "store.db.studio").glob("quarantine/*"))


def test_closing_ends_a_running_job_quickly(tmp_path: Path) -> None:
    with running(tmp_path / "store.db") as client:
        job = client.upload("towns.txt", long_text(2000)).data["job"]
        while client.get(f"/api/jobs/{job}").data["state"] == "queued":
            time.sleep(0.02)
        began = time.monotonic()
    assert time.monotonic() - began < 20  # to the end, it would take minutes
    kept = list((tmp_path / "store.db.studio" / "uploads").glob("*/towns.txt"))
    assert len(kept) == 1  # the next server takes it up again


def test_what_a_server_did_not_get_to_the_next_one_does(tmp_path: Path) -> None:
    home = tmp_path / "store.db.studio" / "uploads" / "0123"
    home.mkdir(parents=True)
    (home / "left.md").write_text("# Left over\n\nThe mayor of Aarau opened the fair.")
    (home.parent / "half.part").write_bytes(b"half of a file")
    with running(tmp_path / "store.db") as client:
        deadline = time.monotonic() + 60
        while not (listed := client.get("/api/documents").data) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert [one["id"] for one in listed] == ["left"]
    assert not (home.parent / "half.part").exists()


def test_one_thing_is_made_once_however_many_ask(tmp_path: Path) -> None:
    from abstrag.memory import LruCache

    made: list[int] = []
    kept: LruCache[int] = LruCache(2)

    def make() -> int:
        time.sleep(0.05)
        made.append(1)
        return len(made)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: kept.get("key", make), range(8))) == {1}
    for name in ("a", "b"):
        kept.get(name, make)
    assert kept.get("key", make) == 4  # forgotten in between, for only two are kept
    assert len(kept) == 2


def test_what_cannot_be_made_is_not_kept() -> None:
    from abstrag.memory import LruCache

    kept: LruCache[int] = LruCache(2)
    for _ in range(2):
        try:
            kept.get("key", lambda: 1 // 0)
        except ZeroDivisionError:
            continue
        raise AssertionError("the error must reach whoever asks")
    assert kept.get("key", lambda: 7) == 7
