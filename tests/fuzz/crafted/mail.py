"""Mail that costs more than it says."""

import base64

from tests.fuzz.crafted.family import MIDDLE, SMALL, Family

_HEAD = (
    "From: a@b.example\nTo: c@d.example\nSubject: Pier 4\nDate: Wed, 15 May 2024 10:00:00 +0200\n"
)
_PLAIN = "The port leased Pier 4 to Lind Shipping."


def _eml(name: str, make: object, sizes: tuple[int, ...] = SMALL) -> Family:
    return Family(name, "eml", make, sizes)  # type: ignore[arg-type]


def _nested(n: int) -> str:
    opened = "".join(
        f'Content-Type: multipart/mixed; boundary="b{i}"\n\n--b{i}\n' for i in range(n)
    )
    closed = "".join(f"\n--b{i}--\n" for i in reversed(range(n)))
    return f"{_HEAD}MIME-Version: 1.0\n{opened}Content-Type: text/plain\n\n{_PLAIN}\n{closed}"


def _forwarded(n: int) -> str:
    return (_HEAD + "Content-Type: message/rfc822\n\n") * n + f"{_HEAD}\n{_PLAIN}\n"


def _parts(n: int) -> str:
    parts = f"--x\nContent-Type: text/plain\n\n{_PLAIN}\n" * n
    return f'{_HEAD}Content-Type: multipart/mixed; boundary="x"\n\n{parts}--x--\n'


def _attached(n: int) -> str:
    data = base64.encodebytes(b"%PDF-1.4 " * n).decode()
    return (
        f'{_HEAD}Content-Type: multipart/mixed; boundary="x"\n\n--x\n\n{_PLAIN}\n--x\n'
        "Content-Type: application/pdf\nContent-Disposition: attachment; filename=../../a.pdf\n"
        f"Content-Transfer-Encoding: base64\n\n{data}--x--\n"
    )


FAMILIES = (
    _eml("parts in parts", _nested, (5, 50, 500)),
    _eml("mail in mail", _forwarded, (5, 50, 500)),
    _eml("parts", _parts),
    _eml("an attachment", _attached),
    _eml("headers", lambda n: _HEAD + "X-A: b\n" * n + f"\n{_PLAIN}\n"),
    _eml("a long header", lambda n: _HEAD + f"X-A: {'b ' * n}\n\n{_PLAIN}\n", MIDDLE),
    _eml("folded headers", lambda n: "Subject: a\n" + " b\n" * n + f"\n{_PLAIN}\n", MIDDLE),
    _eml("encoded words", lambda n: f"Subject: {'=?utf-8?q?a?= ' * n}\n\n{_PLAIN}\n", SMALL),
    _eml("broken encoded words", lambda n: f"Subject: {'=?utf-8?b?a' * n}\n\n{_PLAIN}\n", SMALL),
    _eml("addresses", lambda n: f"From: a@b.example\nTo: {'<a@b.example>, ' * n}\n\n{_PLAIN}\n"),
    _eml("comments in addresses", lambda n: f"From: {'(' * n}a@b.example\n\n{_PLAIN}\n"),
    _eml("quotes", lambda n: f"{_HEAD}\n" + "> " * n + "a\n" + f"{_PLAIN}\n", MIDDLE),
    _eml("quoted lines", lambda n: f"{_HEAD}\n" + "> a\n" * n + f"{_PLAIN}\n", MIDDLE),
    _eml(
        "a broken transfer encoding",
        lambda n: f"{_HEAD}Content-Transfer-Encoding: base64\n\n{'=' * n}a\n",
    ),
    _eml(
        "quoted-printable",
        lambda n: f"{_HEAD}Content-Transfer-Encoding: quoted-printable\n\n{_PLAIN}{'=C3' * n}\n",
    ),
    _eml(
        "an unknown charset",
        lambda n: f"{_HEAD}Content-Type: text/plain; charset={'x' * n}\n\n{_PLAIN}\n",
    ),
    _eml(
        "a long boundary",
        lambda n: f'{_HEAD}Content-Type: multipart/mixed; boundary="{"x" * n}"\n\n{_PLAIN}\n',
    ),
    _eml(
        "parameters",
        lambda n: (
            f"{_HEAD}Content-Type: text/plain{''.join(f'; a*{i}=b' for i in range(n))}\n\n{_PLAIN}\n"
        ),
    ),
    _eml(
        "a strange date",
        lambda n: f"From: a@b.example\nDate: Wed, {'9' * n} May 2024\n\n{_PLAIN}\n",
    ),
    _eml("a web page", lambda n: f"{_HEAD}Content-Type: text/html\n\n<p>{_PLAIN}</p>{'<div>' * n}"),
    _eml("signatures", lambda n: f"{_HEAD}\n{_PLAIN}\n" + "-- \nAnn\n" * n, MIDDLE),
    Family(
        "messages",
        "mbox",
        lambda n: f"From a@b Wed May 15 10:00:00 2024\n{_HEAD}\n{_PLAIN}\n\n" * n,
        (10, 100, 500),
    ),
    Family(
        "starts of messages",
        "mbox",
        lambda n: f"From a@b Wed May 15 10:00:00 2024\n{_HEAD}\n{_PLAIN}\n\n" + "From a\n" * n,
        SMALL,
    ),
    Family(
        "messages without heads",
        "mbox",
        lambda n: "From a@b Wed May 15 10:00:00 2024\n\na\n\n" * n,
        SMALL,
    ),
    Family(
        "escaped starts",
        "mbox",
        lambda n: f"From a@b Wed May 15 10:00:00 2024\n{_HEAD}\n{_PLAIN}\n{'>' * n}From\n",
        SMALL,
    ),
)
