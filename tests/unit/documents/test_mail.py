from email.message import EmailMessage

import pytest

from abstrag.documents import mail
from abstrag.documents.mail import load_eml, load_mbox
from abstrag.errors import Damaged, EmptyDocument, FileTooLarge
from abstrag.model.document import BlockKind, Document
from tests.unit.documents.soundness import check_document, decoded, texts, tree


def message(text: str | None = "The plant closes.\n", **headers: str) -> EmailMessage:
    made = EmailMessage()
    fields = {
        "Subject": "Plant",
        "From": "Ann Lee <ann@a.example>",
        "To": "all@a.example",
        "Date": "Tue, 14 May 2024 10:30:00 +0200",
    }
    for name, value in {**fields, **headers}.items():
        if value:
            made[name] = value
    if text is not None:
        made.set_content(text)
    return made


def read(made: EmailMessage | bytes) -> Document:
    data = made if isinstance(made, bytes) else made.as_bytes()
    document = check_document(load_eml(data, "plant.eml"))
    for block in document.blocks:
        assert decoded(document, block) == []
    return document


def read_box(*messages: EmailMessage) -> Document:
    marks = b"From ann@a.example Tue May 14 10:30:00 2024\n"
    data = b"\n".join(marks + made.as_bytes() for made in messages)
    document = check_document(load_mbox(data, "archive.mbox"))
    for block in document.blocks:
        assert decoded(document, block) == []
    return document


def test_the_subject_is_the_title_and_the_header_lines_are_the_first_text() -> None:
    document = read(message(Subject="Kårsta – news", Cc="bob@a.example"))
    assert document.title == "Kårsta – news"
    assert tree(document) == [(0, "Kårsta – news")]
    assert texts(document, BlockKind.PARAGRAPH) == [
        "From: Ann Lee <ann@a.example>",
        "To: all@a.example",
        "Cc: bob@a.example",
        "Date: Tue, 14 May 2024 10:30:00 +0200",
        "The plant closes.",
    ]
    assert document.metadata.date == "2024-05-14"
    assert document.metadata.date_span is not None
    assert document.quote(document.metadata.date_span) == "14 May 2024"


def test_the_text_is_preferred_to_the_page_and_the_page_is_read_when_it_is_all_there_is() -> None:
    both = message()
    both.add_alternative("<p>The <b>page</b>.</p>", subtype="html")
    assert texts(read(both), BlockKind.PARAGRAPH)[-1] == "The plant closes."
    page = message(None)
    page.set_content("<h1>News</h1><p>The <b>page</b>.</p><script>x</script>", subtype="html")
    document = read(page)
    assert (document.blocks[-1].text, document.blocks[-1].section) == ("The page.", ("News",))


def test_all_parts_are_read_in_order_and_of_alternatives_one_with_the_files_of_all() -> None:
    raw = (
        b'Subject: Plant\nContent-Type: multipart/mixed; boundary="m"\n\n--m\n'
        b'Content-Type: multipart/alternative; boundary="a"\n\n--a\n\n  \n--a\n'
        b"Content-Type: text/html\n\n<p>The page.</p>\n--a--\n--m\n"
        b'Content-Type: multipart/alternative; boundary="b"\n\n--b\n\nThe text.\n--b\n'
        b'Content-Type: multipart/mixed; boundary="c"\n\n--c\nContent-Type: text/html\n\n'
        b"<p>The same.</p>\n--c\nContent-Type: application/pdf; name=a.pdf\n\nx\n--c--\n--b--\n"
        b"--m\nContent-Type: text/plain; name=footer.txt\n\nThe footer.\n--m--\n"
    )
    assert [block.text for block in read(raw).blocks] == [
        "Plant",
        "The page.",
        "The text.",
        "The footer.",
        "Attachment: a.pdf (application/pdf, 1 bytes)",
    ]


def test_a_message_that_claims_to_have_parts_and_has_none_is_text() -> None:
    raw = b'Subject: Plant\nContent-Type: multipart/mixed; boundary="m"\n\nIt closes.\n'
    assert read(raw).blocks[-1].text == "It closes."


def test_lines_are_joined_lists_are_items_and_quoted_replies_are_kept_as_quoted() -> None:
    text = (
        "We\nagree:\n- one\n- two\n\nOn Monday Bob wrote:\n> Do we\n> agree?\n>> Ask Ann.\nYes.\n"
    )
    document = read(message(text))
    assert [(b.kind.value, b.text, b.section) for b in document.blocks[4:]] == [
        ("paragraph", "We agree:", ()),
        ("list_item", "one", ()),
        ("list_item", "two", ()),
        ("paragraph", "On Monday Bob wrote:", ()),
        ("paragraph", "Do we agree?", ("quoted",)),
        ("paragraph", "Ask Ann.", ("quoted",)),
        ("paragraph", "Yes.", ()),
    ]


def test_attachments_are_named_and_not_opened() -> None:
    made = message()
    made.add_attachment(b"%PDF-1.7 hidden", maintype="application", subtype="pdf", filename="a.pdf")
    made.add_attachment("secret words", filename="b.txt")
    made.add_attachment(message("inner words", Subject="Inner"))
    document = read(made)
    assert texts(document, BlockKind.LIST_ITEM) == [
        "Attachment: a.pdf (application/pdf, 15 bytes)",
        "Attachment: b.txt (text/plain, 13 bytes)",
        "Attachment: Inner (message/rfc822)",
    ]
    assert "secret" not in document.text
    assert "inner words" not in document.text


def test_mail_that_breaks_the_rules_is_still_read() -> None:
    raw = (
        b"From root Tue May 14 10:30:00 2024\nSubject: =?nonsense?B?eA==?= \xff\n"
        b"From: a\nTo: =?utf-8?B?S8Olc?=\nDate: someday\n"
        b"Content-Type: text/plain; charset=unknown-8bit\n"
        b"\nCaf\xe9\0 closed.\n"
    )
    document = read(raw)
    assert document.blocks[-1].text == "Café closed."
    assert document.metadata.date is None


def test_each_message_of_a_mailbox_is_a_section_told_by_sender_and_date() -> None:
    other = message("From now on, no.\n", Subject="Re: Plant", From="bob@a.example", Date="")
    document = read_box(message(), other)
    assert document.title == "archive"
    assert tree(document) == [(1, "Plant"), (1, "Re: Plant")]
    assert document.blocks[4].section == ("Plant", "Plant (Ann Lee, 2024-05-14)")
    assert document.blocks[-1].section == ("Re: Plant", "Re: Plant (bob@a.example)")
    assert document.blocks[-1].text == "From now on, no."


def test_a_line_that_begins_with_from_inside_a_message_does_not_end_it() -> None:
    text = "One.\n\nFrom here it is 7:30 hours\nby train.\n"
    document = read_box(message(text), message("Last.\n", Subject="Other"))
    assert tree(document) == [(1, "Plant"), (1, "Other")]
    assert texts(document, BlockKind.PARAGRAPH)[4] == "From here it is 7:30 hours by train."


def test_what_is_no_mail_gets_one_clear_error() -> None:
    with pytest.raises(Damaged, match="header lines are missing"):
        load_eml(b"Only words here.\n", "words.eml")
    with pytest.raises(Damaged, match="no mailbox"):
        load_mbox(b"Only words here.\n", "words.mbox")
    with pytest.raises(EmptyDocument, match="no text"):
        load_eml(message("", Subject="").as_bytes(), "empty.eml")


@pytest.mark.parametrize("depth", [40, 3_000])
def test_parts_nested_too_deeply_are_refused(depth: int) -> None:
    head = b"Subject: x\n"
    for i in range(depth):
        head += b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (i, i)
    with pytest.raises(Damaged, match="too deeply"):
        load_eml(head + b"\nwords\n", "deep.eml")


def test_too_many_parts_or_messages_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = message()
    for _ in range(4):
        made.add_attachment("x", filename="x.txt")
    monkeypatch.setattr(mail, "MAX_PARTS", 3)
    with pytest.raises(FileTooLarge, match="more than 3 parts"):
        load_eml(made.as_bytes(), "many.eml")
    monkeypatch.setattr(mail, "MAX_MESSAGES", 1)
    with pytest.raises(FileTooLarge, match="more than 1 messages"):
        read_box(message(), message())
