"""A PDF writer of a hundred lines: words, rules and dots where a test wants them.

Coordinates are a reader's: from the left and from the top of a page of 600 by 800 points.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

WIDTH, HEIGHT = 600, 800
FONTS = {
    "regular": "Helvetica",
    "bold": "Helvetica-Bold",
    "italic": "Helvetica-Oblique",
    "mono": "Courier",
}
# Advance widths of Helvetica, space to tilde, in thousandths of an em.
WIDTHS = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015,
    667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,
    611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333,
    556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500,
    278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
]  # fmt: skip


def width(text: str, size: float = 10) -> float:
    """Return how wide a text is when it is set in Helvetica."""
    units = (WIDTHS[ord(c) - 32] if 32 <= ord(c) < 127 else 556 for c in text)
    return sum(units) * size / 1000


def wrapped(text: str, measure: float, size: float = 10) -> list[str]:
    """Break a text into lines that fit a measure."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if width(longer, size) > measure and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


@dataclass
class Page:
    """What is on a page, as the operators that draw it."""

    drawn: list[str] = field(default_factory=list)
    rotate: int = 0

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = 10,
        font: str = "regular",
        turned: bool = False,
        spacing: float = 0.0,
    ) -> "Page":
        """Set a text with its base line at `y`; turned, it runs upwards."""
        encoded = text.encode("cp1252").hex()
        matrix = "0 1 -1 0" if turned else "1 0 0 1"
        self.drawn.append(
            f"BT /{font} {size} Tf {spacing:.3f} Tw {matrix} {x:.2f} {HEIGHT - y:.2f} Tm "
            f"<{encoded}> Tj ET"
        )
        return self

    def right(self, x: float, y: float, text: str, **how: object) -> "Page":
        """Set a text that ends at `x`."""
        size = float(str(how.get("size", 10)))
        return self.text(x - width(text, size), y, text, **how)  # type: ignore[arg-type]

    def lines(
        self, x: float, y: float, lines: Sequence[str], *, leading: float = 12, **how: object
    ) -> float:
        """Set lines under each other and return where the next one would stand."""
        for line in lines:
            self.text(x, y, line, **how)  # type: ignore[arg-type]
            y += leading
        return y

    def justified(
        self,
        x: float,
        y: float,
        text: str,
        measure: float,
        *,
        indent: float = 0,
        size: float = 10,
        full: bool = False,
    ) -> float:
        """Set a paragraph in block and return where the next line would stand.

        With `full` the last line is as wide as the others.
        """
        lines = wrapped(text, measure - indent, size)
        for i, line in enumerate(lines):
            start = x + (indent if i == 0 else 0)
            gaps = line.count(" ")
            room = x + measure - start - width(line, size)
            last = i == len(lines) - 1 and not full
            self.text(start, y, line, size=size, spacing=0 if last or not gaps else room / gaps)
            y += 1.2 * size
        return y

    def rule(self, x0: float, x1: float, y: float) -> "Page":
        """Draw a thin line across."""
        self.drawn.append(f"0.5 w {x0} {HEIGHT - y} m {x1} {HEIGHT - y} l S")
        return self

    def dot(self, x: float, y: float) -> "Page":
        """Draw a small square bullet whose middle is at the given point."""
        self.drawn.append(f"{x - 2} {HEIGHT - y - 2} 4 4 re f")
        return self

    def picture(self) -> "Page":
        """Draw an image of one grey pixel over the whole page."""
        self.drawn.append(f"q {WIDTH} 0 0 {HEIGHT} 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \x80 EI Q")
        return self


def pdf(
    *pages: Page, info: str = "", encrypt: str = "", media: tuple[int, int] = (WIDTH, HEIGHT)
) -> bytes:
    """Write a file; `info` and `encrypt` are the bodies of those dictionaries."""
    fonts = " ".join(
        f"/{name} << /Type /Font /Subtype /Type1 /BaseFont /{base} /Encoding /WinAnsiEncoding >>"
        for name, base in FONTS.items()
    )
    first = 3
    kids = " ".join(f"{first + 2 * i} 0 R" for i in range(len(pages)))
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
    ]
    for i, page in enumerate(pages):
        content = zlib.compress("\n".join(page.drawn).encode("latin-1"))
        bodies.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {media[0]} {media[1]}]"
            f" /Rotate {page.rotate} /Contents {first + 2 * i + 1} 0 R"
            f" /Resources << /Font << {fonts} >> >> >>".encode()
        )
        bodies.append(
            f"<< /Length {len(content)} /Filter /FlateDecode >>\nstream\n".encode()
            + content
            + b"\nendstream"
        )
    trailer = ""
    if info:
        bodies.append(f"<< {info} >>".encode())
        trailer += f" /Info {len(bodies)} 0 R"
    if encrypt:
        bodies.append(f"<< {encrypt} >>".encode())
        trailer += f" /Encrypt {len(bodies)} 0 R /ID [<{'00' * 16}> <{'00' * 16}>]"
    data = b"%PDF-1.7\n"
    offsets = []
    for number, body in enumerate(bodies, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    start = len(data)
    entries = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    data += f"xref\n0 {len(bodies) + 1}\n0000000000 65535 f \n{entries}".encode()
    data += f"trailer\n<< /Size {len(bodies) + 1} /Root 1 0 R{trailer} >>\n".encode()
    return data + f"startxref\n{start}\n%%EOF\n".encode()
