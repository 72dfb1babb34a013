"""Every constant of the paper, once, under its paper name; and the settings a user may change.

Those of its statistics alone stand with what measures, in `bench.stats`. Where the paper prints no
value the comment says whose choice it is. `W_L` and friends are keyed by plain strings so that this
module stays below `model`; a `StrEnum` member finds its entry too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

# --- Bridges: weights and distances (section 3.3, appendix C) -------------------------------------

OMEGA: Final[Mapping[str, float]] = MappingProxyType(
    {
        "expression": 0.35,
        "concept": 0.65,
        "intent": 0.90,
        "event": 0.90,
        "context": 0.50,
        "related": 0.90,
    }
)
DELTA_EXPR_ALIAS: Final = 0.05  # a guessed alias, on top of the edit distance
DELTA_ABS_BASELINE: Final = 0.30  # neither WordNet nor an embedding knows the pair
DELTA_ABS_ONE_WAY: Final = 0.15  # the bridge holds in one direction only
DELTA_INTENT_CAP: Final = 2.0  # of the surprisal −log P(type | role)
DELTA_INTENT_OFFLINE: Final = 0.40  # no model to ask for P; a distance, not a probability
DELTA_INTENT_CONTEXT: Final = 0.20  # the role-to-type rule depends on the context
DELTA_EVENT_SLOT: Final = 0.10  # each slot unfilled, or filled by coercion
DELTA_EVENT_ARTIFACT: Final = 0.30  # only an artifact implies the event

# --- Gap and relevance (section 3.5, appendix K) --------------------------------------------------

TAU: Final = 1.5  # default expansion budget
TAU_MAX: Final = 4.0  # no bridge set dearer than this is ever looked at
MAX_GAP: Final = 4.0  # Gap of a segment that meets nothing
KAPPA: Final = 1.5  # where the smooth part of Gap begins (ours)
MAX_LITERALS: Final = 10  # of a query; the heaviest stay (ours)
EVENT_LITERAL_WEIGHT: Final = 1.5  # an event literal against any other (ours)
TOP_K_MEAN: Final = 5  # document score: mean of the k best segments
COST_UNIT: Final = 10_000  # costs are integers in 1/10,000 (ours)

# --- Utility prior (section 3.2, appendices B and K) ----------------------------------------------

ALPHA: Final = 1.0  # weight of the layout-role term
W_TRUST: Final[Mapping[str, float]] = MappingProxyType(
    {
        "established": 1.0,
        "strong_claim": 0.9,
        "cited_external": 0.7,
        "hypothesis": 0.5,
        "disputed": 0.4,
        "defeated": 0.0,
    }
)
W_ASRT: Final[Mapping[str, float]] = MappingProxyType(
    {
        "established": 1.0,
        "strong_claim": 1.0,
        "cited_external": 0.6,
        "hypothesis": 0.5,
        "disputed": 0.3,
        "defeated": 0.2,
    }
)

_SCIENTIFIC: Final = {
    "results": 0.91,
    "methods": 0.87,
    "discussion": 0.73,
    "introduction": 0.53,
    "background": 0.24,
    "conclusion": 0.20,
    # the paper prints no value for the rest; ours:
    "abstract": 0.75,
    "caption": 0.60,
    "table": 0.60,
    "appendix": 0.40,
    "other": 0.40,
    "references": 0.20,
}
W_L: Final[Mapping[str, Mapping[str, float]]] = MappingProxyType(
    {
        "scientific": MappingProxyType(_SCIENTIFIC),
        "engineering": MappingProxyType(
            {**_SCIENTIFIC, "methods": 0.90, "results": 0.75, "discussion": 0.68}
        ),
        "abstract_only": MappingProxyType({"abstract": 0.75}),
        "page_local": MappingProxyType(
            {"cell": 0.70, "table": 0.70, "text": 0.60, "caption": 0.45}
        ),
        "legal": MappingProxyType({}),
        # ours: a row of figures has no sentence that asserts them, so its role has to say it
        "report": MappingProxyType({"table": 1.00}),
        "news": MappingProxyType({}),
        "transcript": MappingProxyType({}),
        "plain": MappingProxyType({}),
    }
)
W_L_DEFAULT: Final[Mapping[str, float]] = MappingProxyType(
    # a role its genre's schedule does not name; genres the paper does not name start at 0.50
    {
        "scientific": 0.40,
        "engineering": 0.40,
        "abstract_only": 0.75,
        "page_local": 0.60,
        "legal": 0.50,
        "report": 0.50,
        "news": 0.50,
        "transcript": 0.50,
        "plain": 0.50,
    }
)
CUELESS_CONFIDENCE: Final = 0.7  # of a claim without a marker: taken for the author's own

# --- Merging (appendix K) -------------------------------------------------------------------------

MERGE_CANDIDATE: Final = 0.75  # cosine at which two names are looked at
MERGE_CONFIRM: Final = 0.85  # confidence at which a model's merge is believed

# --- Context lifting (appendix D) -----------------------------------------------------------------

JUDGE_SAMPLES: Final = 3
JUDGE_TEMPERATURE: Final = 0.3
JUDGE_CALL_BUDGET: Final = 24  # per segment

# --- Refinement and answers (appendices F and K) --------------------------------------------------

GATE_CONTROLS: Final = 3  # solved cases a patch is held against in a cycle
EDIT_VOTES: Final = 3  # k: distinct cases that must ask for an edit of a program
GIVEN_PASSAGES: Final = 3  # to a generator

# --- Ours -----------------------------------------------------------------------------------------

SHORTLIST: Final = 12  # documents of a collection that are opened for a query
PRIOR_POWER: Final = 16.0  # of a document's own score, frozen; docs/collections.md has the ranges
MIN_ANCESTOR_DEPTH: Final = 5  # WordNet ancestors nearer the root than this say nothing

# --- Limits of one document (docs/limits.md) -----------------------------------------------------

MAX_FILE_BYTES: Final = 50 * 1024 * 1024  # of a file; a user may set it
MAX_UNPACKED_BYTES: Final = 4 * MAX_FILE_BYTES  # what all parts of a zipped file unpack to
MAX_PAGES: Final = 10_000  # of a PDF
MAX_SCANNED_PAGES: Final = 1_000  # of a document, that are pictures to be read
MAX_SCAN_PIXELS: Final = 12_000_000  # of a page that is read; a larger one is made smaller
MAX_PICTURE_PIXELS: Final = 150_000_000  # of a picture file, each of its pages
MAX_PAGE_CONTENT_BYTES: Final = 32 * 1024 * 1024  # instructions that draw a page, with its forms
MAX_CONTENT_BYTES: Final = 512 * 1024 * 1024  # instructions that draw all pages
MAX_NESTING: Final = 2_048  # of a web page's elements; the parser's own limit
MAX_ELEMENTS: Final = 2_000_000  # of a web page or of a part of a Word file
MAX_TABLE_CELLS: Final = 1_000_000  # of a table; a cell over three rows and two columns is six
MAX_TABLE_COLUMNS: Final = 16_384  # of a table, as many as a spreadsheet has
MAX_HEADING_LEVEL: Final = 100  # of our JSON's short form
MAX_NUMBER_DIGITS: Final = 18  # of a whole number in our JSON; a longer one fits into no store
MAX_INPUTS: Final = 2_000  # files put into a LaTeX document, one as often as it is named
MAX_INPUT_DEPTH: Final = 40  # of LaTeX files that input one another
MAX_MACRO_EXPANSIONS: Final = 500_000  # of the macros a LaTeX document defines
MAX_MACRO_CHARS: Final = 20_000_000  # that those expand to with their arguments, at all depths
MAX_QUANTITY_DIGITS: Final = 4_000  # a longer row of digits is no quantity; Python reads 4,300
MAX_WORD_CHARS: Final = 1_000  # without a space; a longer word is parsed in pieces
MAX_PARSED_CHARS: Final = 20_000  # of a paragraph; a longer one is parsed in pieces
MAX_PARSED_TOKENS: Final = 10_000  # of a paragraph, by its words and signs; as above
MAX_BATCH_TOKENS: Final = 50_000  # parsed at a time, for the parser's memory
MAX_SENTENCE_TOKENS: Final = 1_000  # in a longer one pronouns are left open
MAX_CPU_SECONDS: Final = 600  # of all threads of the process that reads and indexes a document
MAX_MEMORY_BYTES: Final = 2 * 1024**3  # that this process may ask for on top of its models
MAX_SECONDS: Final = 1_800  # on the clock, until the process is ended


@dataclass(frozen=True, slots=True)
class DocumentBudget:
    """What one document may cost; a process that goes over it is ended, and the file set aside."""

    cpu_seconds: float = MAX_CPU_SECONDS
    memory_bytes: int = MAX_MEMORY_BYTES
    seconds: float = MAX_SECONDS


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user may change without writing code; the defaults are the paper's or ours."""

    tau: float = TAU
    alpha: float = ALPHA
    granularity: str | None = None  # sentence, paragraph or element; None: by genre
    genre: str | None = None  # None: detected
    max_file_bytes: int = MAX_FILE_BYTES
