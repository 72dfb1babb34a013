"""The site names files outside of docs/ where a page of the repository links to them."""

from tools.site_links import within_site


def test_a_link_out_of_the_pages_becomes_the_name_of_the_file() -> None:
    assert within_site("[log](../training/LOG.md)", "results.md") == "log (`training/LOG.md`)"
    found = within_site("([log](../../training/LOG.md#a))", "decisions/027-shortlist.md")
    assert found == "(log (`training/LOG.md`))"


def test_links_between_pages_stay() -> None:
    text = "[scans](../scans.md) and [one](028-learned-prices.md) and [out](https://example.org)"
    assert within_site(text, "decisions/072-scans.md") == text
