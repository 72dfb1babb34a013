"""Flags beat the environment, the environment beats the file, and nothing means local mode."""

from pathlib import Path
from typing import Any

import pytest

from abstrag.errors import InputError
from abstrag.llm.choose import ConfigSource, by_role, choose
from abstrag.llm.model import CallRole
from abstrag.llm.settings import Limits, LlmSettings, Price, checked_url

LOCAL = "http://127.0.0.1:8080/v1"


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def user_file(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "config" / "abstrag"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(text, "utf-8")


def chosen(environment: dict[str, str] | None = None, **options: Any) -> LlmSettings:
    made = choose(environment=environment or {}, **options)
    assert made is not None
    return made


def test_nothing_said_is_local_mode() -> None:
    assert choose(environment={}) is None
    assert choose(environment={"OPENAI_API_KEY": "k", "ABSTRAG_LLM": ""}) is None


def test_one_name_serves_every_role() -> None:
    made = chosen({"ABSTRAG_LLM": "m"})
    assert {role: end.model for role, end in made.endpoints.items()} == dict.fromkeys(CallRole, "m")
    assert made.endpoints[CallRole.INDEX].base_url == "https://api.openai.com/v1"


def test_a_flag_beats_the_environment_which_beats_the_file(tmp_path: Path) -> None:
    user_file(tmp_path, '[llm]\nmodel = "from-file"\nbase_url = "http://file/v1"')
    environment = {"ABSTRAG_LLM": "from-env"}
    assert chosen().endpoints[CallRole.JUDGE].model == "from-file"
    assert chosen(environment).endpoints[CallRole.JUDGE].model == "from-env"
    made = chosen(environment, flags=ConfigSource(models={None: "from-flag"}))
    assert made.endpoints[CallRole.JUDGE].model == "from-flag"
    assert made.endpoints[CallRole.JUDGE].base_url == "http://file/v1"  # field by field


def test_a_role_may_have_its_own_model_and_address() -> None:
    made = chosen(
        {
            "ABSTRAG_LLM": "small",
            "ABSTRAG_BASE_URL": LOCAL,
            "ABSTRAG_LLM_JUDGE": "large",
            "ABSTRAG_BASE_URL_JUDGE": "http://judge/v1/",
        }
    )
    judge, index = made.endpoints[CallRole.JUDGE], made.endpoints[CallRole.INDEX]
    assert (judge.model, judge.base_url) == ("large", "http://judge/v1")
    assert (index.model, index.base_url) == ("small", LOCAL)


def test_a_model_for_all_is_not_sent_to_the_address_of_a_weaker_role(tmp_path: Path) -> None:
    user_file(
        tmp_path,
        f"""
        [llm]
        base_url = "{LOCAL}"
        [llm.roles.judge]
        model = "special"
        base_url = "http://special/v1"
        """,
    )
    plain = chosen().endpoints
    assert list(plain) == [CallRole.JUDGE]
    assert plain[CallRole.JUDGE].base_url == "http://special/v1"
    flagged = chosen(flags=ConfigSource(models={None: "mine"})).endpoints[CallRole.JUDGE]
    assert (flagged.model, flagged.base_url) == ("mine", LOCAL)


def test_none_works_without_a_model_whatever_else_is_said() -> None:
    environment = {"ABSTRAG_LLM": "m", "ABSTRAG_BASE_URL": LOCAL}
    assert choose(ConfigSource(models={None: "none"}), environment=environment) is None
    made = chosen(environment, flags=ConfigSource(models={CallRole.JUDGE: "none"}))
    assert CallRole.JUDGE not in made.endpoints
    assert CallRole.ANSWER in made.endpoints


def test_an_address_without_a_model_is_a_mistake() -> None:
    with pytest.raises(InputError, match="no model") as caught:
        choose(environment={"ABSTRAG_BASE_URL": LOCAL})
    assert "--llm" in str(caught.value.hint)


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "ftp://x/v1", "http://", "http://x:99999", ""])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="not the address"):
        checked_url(url)


@pytest.mark.parametrize(
    ("environment", "variable"),
    [
        ({"OPENAI_API_KEY": "k"}, "OPENAI_API_KEY"),
        ({"ABSTRAG_API_KEY": "a", "OPENAI_API_KEY": "k"}, "ABSTRAG_API_KEY"),
        ({"ABSTRAG_BASE_URL": "http://elsewhere/v1", "OPENAI_API_KEY": "k"}, None),
        ({"ABSTRAG_BASE_URL": "http://api.openai.com.evil/v1", "OPENAI_API_KEY": "k"}, None),
        ({"ABSTRAG_BASE_URL": "http://elsewhere/v1", "ABSTRAG_API_KEY": "a"}, "ABSTRAG_API_KEY"),
        ({"OPENAI_BASE_URL": "http://proxy/v1", "OPENAI_API_KEY": "k"}, "OPENAI_API_KEY"),
        ({"ABSTRAG_BASE_URL": LOCAL}, None),
    ],
)
def test_openais_key_goes_to_nobody_else(environment: dict[str, str], variable: str | None) -> None:
    made = chosen({"ABSTRAG_LLM": "m", **environment})
    assert made.endpoints[CallRole.ANSWER].key_variable == variable


def test_a_file_names_the_variable_of_a_key(tmp_path: Path) -> None:
    user_file(
        tmp_path,
        '[llm]\nmodel = "m"\nbase_url = "https://host/v1"\napi_key_env = "HOST_KEY"',
    )
    assert chosen().endpoints[CallRole.INDEX].key_variable == "HOST_KEY"
    elsewhere = chosen({"ABSTRAG_BASE_URL": "https://other/v1"})
    assert elsewhere.endpoints[CallRole.INDEX].key_variable is None  # the key is not the other's


def test_a_project_chooses_models_but_not_where_documents_go() -> None:
    Path("abstrag.toml").write_text('[llm]\nmodel = "m"\nmax_calls = 5', "utf-8")
    assert chosen().limits == Limits(max_calls=5)
    for line in ('base_url = "http://evil/v1"', '[llm.roles.judge]\napi_key_env = "SECRET"'):
        Path("abstrag.toml").write_text(f'[llm]\nmodel = "m"\n{line}', "utf-8")
        with pytest.raises(InputError, match="a project's file may not"):
            choose(environment={})
        assert chosen(config=Path("abstrag.toml"))  # named by the user, so trusted


def test_the_project_counts_before_the_user(tmp_path: Path) -> None:
    user_file(tmp_path, '[llm]\nmodel = "mine"')
    Path("abstrag.toml").write_text('[llm]\nmodel = "theirs"', "utf-8")
    assert chosen().endpoints[CallRole.INDEX].model == "theirs"
    named = tmp_path / "named.toml"
    named.write_text('[llm]\nmodel = "named"', "utf-8")
    assert chosen(config=named).endpoints[CallRole.INDEX].model == "named"
    assert chosen({"ABSTRAG_CONFIG": str(named)}).endpoints[CallRole.INDEX].model == "named"


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[llm]\nmodle = 'm'", "modle"),
        ("[llm]\nretries = -1", "retries"),
        ("[llm]\nmax_cost = 'much'", "max_cost"),
        ("[llm.roles.jugde]\nmodel = 'm'", "jugde"),
        ("[llm.prices.m]\ninput = -1", "prices.m.input"),
        ("llm = 3", "not a table"),
        ("[llm", "cannot be read"),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path: Path, text: str, where: str) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(InputError, match=where):
        choose(config=file, environment={})


def test_a_file_that_is_named_and_missing_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        choose(config=tmp_path / "gone.toml", environment={})


def test_caps_patience_and_prices_come_from_the_file_and_flags_go_first(tmp_path: Path) -> None:
    user_file(
        tmp_path,
        """
        [llm]
        model = "m"
        timeout_s = 7
        concurrency = 2
        max_calls = 10
        max_cost = 1.5
        [llm.prices.m]
        input = 0.5
        output = 2.0
        """,
    )
    made = chosen(limits=Limits(max_calls=3))
    assert made.limits == Limits(max_calls=3, max_cost=1.5)
    assert (made.patience.timeout_s, made.patience.concurrency) == (7, 2)
    assert made.price(CallRole.JUDGE) == Price(0.5, 2.0)
    assert made.unpriced() == ()


def test_a_price_nobody_said_is_unknown_and_this_machine_is_free() -> None:
    assert chosen({"ABSTRAG_LLM": "m"}).unpriced() == ("m",)
    local = chosen({"ABSTRAG_LLM": "m", "ABSTRAG_BASE_URL": LOCAL})
    assert local.unpriced() == ()
    assert local.price(CallRole.INDEX) == Price()


def test_a_flag_may_name_a_role() -> None:
    assert by_role(("a", "judge=b"), "--llm") == {None: "a", CallRole.JUDGE: "b"}
    assert by_role(("org/model=v2",), "--llm") == {None: "org/model=v2"}  # no role, so a name


@pytest.mark.parametrize("values", [("",), ("judge=",), ("a", "b"), ("judge=a", "judge=b")])
def test_a_flag_that_says_nothing_or_two_things_is_refused(values: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="--llm"):
        by_role(values, "--llm")


def test_a_password_in_an_address_is_not_shown() -> None:
    made = chosen({"ABSTRAG_LLM": "m", "ABSTRAG_BASE_URL": "https://me:pw@host/v1?key=secret"})
    assert made.endpoints[CallRole.INDEX].shown == "https://host/v1"


def test_the_file_in_the_documentation_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "llm.md").read_text("utf-8")
    file = tmp_path / "shown.toml"
    file.write_text(page.split("```toml\n")[1].split("```")[0], "utf-8")
    made = chosen(config=file)
    assert made.endpoints[CallRole.JUDGE].model == "qwen2.5-7b"
    assert made.endpoints[CallRole.INDEX].key_variable == "OPENAI_API_KEY"
    assert made.unpriced() == ()
    assert made.limits == Limits(2000, 5_000_000, 5.0)
