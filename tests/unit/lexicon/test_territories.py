from abstrag.indexing.naming.alias_rules import names_territory, territory_classes


def test_a_country_is_a_country_and_what_its_part_of_the_world_is_called_after() -> None:
    assert {"country", "European", "European country"} <= set(territory_classes("France"))
    assert "American" in territory_classes("Texas")


def test_what_is_no_territory_has_no_such_classes() -> None:
    assert not names_territory("bank")
    assert territory_classes("bank") == ()
    assert territory_classes("Pfizer") == ()
