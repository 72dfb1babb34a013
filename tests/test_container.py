"""The files of the container say what their page promises, as far as that shows without one."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.cli.test_serve import served

ROOT = Path(__file__).parent.parent
FILE = (ROOT / "Containerfile").read_text("utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
TOKEN = "0123456789abcdef"


def last(instruction: str) -> str:
    """Return what the last instruction of a kind says."""
    found = re.findall(rf"^{instruction} (.*)$", FILE, re.MULTILINE)
    return str(found[-1])


def command(instruction: str) -> list[str]:
    """Return the command that an instruction gives as a JSON list."""
    made: list[str] = json.loads(last(instruction)[last(instruction).index("[") :])
    return made


def test_it_runs_as_an_ordinary_user_on_a_read_only_root() -> None:
    service = COMPOSE["services"]["abstrag"]
    assert int(last("USER")) > 0
    assert service["read_only"] is True
    assert service["tmpfs"] == ["/tmp"]
    assert service["cap_drop"] == ["ALL"]
    assert any(volume.endswith(f":{last('VOLUME')}") for volume in service["volumes"])


def test_it_is_reached_from_this_machine_alone_and_secrets_have_no_default() -> None:
    services = COMPOSE["services"]
    assert all(port.startswith("127.0.0.1:") for port in services["abstrag"]["ports"])
    secrets = [services["abstrag"]["environment"][n] for n in ("ABSTRAG_TOKEN", "PGPASSWORD")]
    secrets.append(services["db"]["environment"]["POSTGRES_PASSWORD"])
    assert all(re.fullmatch(r"\$\{\w+:\?.*\}", secret) for secret in secrets)


def test_everything_that_is_copied_is_there_and_let_through() -> None:
    let_through = (ROOT / ".dockerignore").read_text("utf-8")
    for line in re.findall(r"^COPY (?!--from)(.*)$", FILE, re.MULTILINE):
        for source in line.split()[:-1]:
            assert (ROOT / source).exists()
            assert f"!{source}\n" in let_through


def test_the_command_serves_and_the_port_is_the_one_that_is_told() -> None:
    program, name, *options = command("CMD")
    assert (program, name) == ("abstrag", "serve")
    assert options[options.index("--port") + 1] == last("EXPOSE")


@pytest.mark.parametrize(("token", "healthy"), [(TOKEN, True), ("wrong", False)])
def test_the_health_check_tells_a_server_that_answers(
    token: str, healthy: bool, tmp_path: Path
) -> None:
    check = command("HEALTHCHECK")
    assert check[0] == "python"
    with served(tmp_path / "store.db", "--token", TOKEN) as server:
        asked = [part.replace(last("EXPOSE"), str(server.client.port)) for part in check[1:]]
        done = subprocess.run(
            [sys.executable, *asked],
            env={**os.environ, "ABSTRAG_TOKEN": token},
            capture_output=True,
            check=False,
        )
    assert (done.returncode == 0) == healthy
