"""The document the browser is given: two pages of a PDF, every line where this file says it is."""

from tests.unit.documents.pdf_maker import HEIGHT, WIDTH, Page, pdf, width

LEFT, TOP, LEADING, SIZE = 72, 72, 16, 11

TITLE = "Chip orders and who places them"
QUERY = "Which collaborations between LLM companies and chip suppliers were there in 2024?"
VISIT = "The chief engineer of Anthropic visited the head of TSMC on 14 May 2024."
RARE = "Collaborations between LLM companies and chip suppliers were rare in 2023."
EVERYBODY = (
    "Everybody would like to announce collaborations between LLM companies and chip suppliers."
)

LINES = (
    (
        f"# {TITLE}",
        "",
        "15 May 2024",
        "",
        "Everybody would like to announce collaborations between LLM companies and",
        "chip suppliers. LLM companies need more chips than all suppliers can make.",
        "A survey of 40 LLM companies found that most of them wait for their chip",
        "suppliers. Analysts count collaborations between LLM companies and cloud",
        "providers by the dozen. Collaborations between LLM companies and chip",
        "suppliers were rare in 2023. Chip suppliers prefer collaborations with car",
        "makers, whose orders for 2024 are safe.",
        "",
        "# Prices",
        "",
        "All chip suppliers raised prices in 2024, and all LLM companies paid. Prices",
        "for used accelerators fell by 12% between January and April 2024.",
    ),
    (
        "# A trip to Hsinchu",
        "",
        "Anthropic, an LLM company, sells access to its language models. Chip supplier",
        "TSMC runs its most advanced factories in Hsinchu. The chief engineer of",
        "Anthropic visited the head of TSMC on 14 May 2024. Neither side said what",
        "was discussed. Reporters saw the visitors leave the factory after four hours.",
        "",
        "# Elsewhere",
        "",
        "A car maker signed an agreement with a battery supplier on Monday. The",
        "minister of economic affairs met farmers in the south of the island.",
    ),
)


def paper(title: str = TITLE) -> bytes:
    """Return the document as a PDF; with another title it is another document."""
    pages = []
    for lines in LINES:
        page = Page()
        for row, line in enumerate(lines):
            if line.startswith("# "):
                head = title if line == f"# {TITLE}" else line[2:]
                page.text(LEFT, TOP + row * LEADING, head, size=14, font="bold")
            elif line:
                page.text(LEFT, TOP + row * LEADING, line, size=SIZE)
        pages.append(page)
    return pdf(*pages)


def place(page: int, words: str) -> tuple[float, float, float, float]:
    """Return the box around words of one line, from base line to x-height, as page fractions."""
    row, line = next((row, line) for row, line in enumerate(LINES[page - 1]) if words in line)
    left = LEFT + width(line[: line.index(words)], SIZE)
    base = TOP + row * LEADING
    right = left + width(words, SIZE)
    return left / WIDTH, (base - SIZE / 2) / HEIGHT, right / WIDTH, base / HEIGHT
