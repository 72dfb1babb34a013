"""Addresses are read, and a password in one is never shown."""

import pytest

from abstrag.errors import InputError
from abstrag.stores.open import Address, is_address


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://ann@db/books", "postgresql://ann@db/books"),
        ("postgres://ann:hush@db:5433/books", "postgresql://ann@db:5433/books"),
        ("postgresql://ann:hu%2Fsh@[::1]:5433/books", "postgresql://ann@[::1]:5433/books"),
        ("postgresql://a:hush@one:1,two:2/books", "postgresql://a@one:1,two:2/books"),
        ("postgresql:///books?host=/run/pg", "postgresql:///books?host=/run/pg"),
        ("postgresql://db/books?user=ann&password=hush", "postgresql://db/books?user=ann"),
        ("postgresql://db/books?sslpassword=hush", "postgresql://db/books"),
        ("postgresql://db/books?schema=mine", "postgresql://db/books?schema=mine"),
        ("postgresql://db/books?schema=abstrag", "postgresql://db/books"),
    ],
)
def test_an_address_is_shown_without_its_password(text: str, shown: str) -> None:
    address = Address.parse(text)
    assert str(address) == address.shown == shown
    assert "hush" not in repr(address)


def test_the_driver_gets_everything_but_the_schema() -> None:
    address = Address.parse("postgres://ann:hu%2Fsh@db/books?sslmode=require&schema=mine")
    assert address.schema == "mine"
    assert address.conninfo == "postgresql://ann:hu%2Fsh@db/books?sslmode=require"
    assert Address.parse("postgresql:///books").conninfo == "postgresql:///books"


@pytest.mark.parametrize(
    "text",
    [
        "mysql://ann:hush@db/books",
        "postgresql://ann:hu/sh@db/books",  # a slash that should have been %2F
        "postgresql://ann:hu#sh@db/books",
        "postgresql://db:hush/books",
        "postgresql://ann@[hush/books",
        "postgresql://db/books?hush",
    ],
)
def test_an_address_that_cannot_be_read_is_not_shown_either(text: str) -> None:
    with pytest.raises(InputError) as caught:
        Address.parse(text)
    assert caught.value.hint is not None
    assert "%" in caught.value.hint
    assert "sh@" not in str(caught.value)
    assert "hush" not in f"{caught.value}{caught.value.hint}{caught.value.__cause__}"


@pytest.mark.parametrize("schema", ["", "Mine", "pg_catalog", "1st", 'a"b', "a b", "x" * 64])
def test_a_schema_has_a_plain_name(schema: str) -> None:
    with pytest.raises(InputError, match="schema"):
        Address.parse(f"postgresql://db/books?schema={schema}")


def test_a_path_is_no_address() -> None:
    assert is_address("postgresql://db/books")
    assert is_address("postgres:///books")
    assert not is_address("postgresql.db")
    assert not is_address("/home/ann/postgresql://db")
    assert not is_address(None)
