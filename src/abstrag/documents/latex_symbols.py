"""What LaTeX commands stand for: letters, signs, accents."""

from __future__ import annotations

import unicodedata
from types import MappingProxyType
from typing import Final


def _table(text: str) -> MappingProxyType[str, str]:
    words = text.split()
    return MappingProxyType(dict(zip(words[::2], words[1::2], strict=True)))


LETTERS: Final = _table(
    # these swallow the blank behind them: "\o re" is one word
    "L Ł l ł o ø O Ø ss ß ae æ AE Æ oe œ OE Œ aa å AA Å i ı j ȷ dh ð DH Ð th þ TH Þ"
)
SIGNS: Final = _table(
    "ldots … dots … textellipsis … textendash – textemdash — textbullet • textperiodcentered · "
    "S § P ¶ copyright © textcopyright © textregistered ® texttrademark ™ pounds £ euro € "
    "texteuro € textdegree ° degree ° dag † ddag ‡ textquoteleft ‘ textquoteright ’ "
    "textquotedblleft “ textquotedblright ” textasciitilde ~ textasciicircum ^ textbackslash \\ "
    "textbar | textless < textgreater > textunderscore _ textdollar $ textpercent % textmu µ "
    "LaTeX LaTeX TeX TeX BibTeX BibTeX checkmark ✓ cmark ✓ xmark ✗ slash /"
)
MATH: Final = _table(
    "alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ vartheta θ iota ι "
    "kappa κ lambda λ mu μ nu ν xi ξ pi π varpi π rho ρ varrho ρ sigma σ varsigma ς tau τ "
    "upsilon υ phi φ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π "
    "Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω times × cdot · cdots ⋯ ldots … dots … vdots ⋮ ddots ⋱ "
    "pm ± mp ∓ div ÷ ast * star ⋆ circ ∘ bullet • oplus ⊕ otimes ⊗ odot ⊙ leq ≤ le ≤ geq ≥ ge ≥ "
    "neq ≠ ne ≠ approx ≈ sim ∼ simeq ≃ equiv ≡ cong ≅ propto ∝ ll ≪ gg ≫ in ∈ notin ∉ ni ∋ "
    "subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ cup ∪ cap ∩ bigcup ⋃ bigcap ⋂ setminus ∖ emptyset ∅ "
    "varnothing ∅ forall ∀ exists ∃ nexists ∄ neg ¬ lnot ¬ land ∧ wedge ∧ lor ∨ vee ∨ to → "
    "rightarrow → leftarrow ← Rightarrow ⇒ Leftarrow ⇐ leftrightarrow ↔ Leftrightarrow ⇔ iff ⇔ "
    "implies ⇒ mapsto ↦ longrightarrow ⟶ uparrow ↑ downarrow ↓ nearrow ↗ searrow ↘ infty ∞ "
    "partial ∂ nabla ∇ sum ∑ prod ∏ int ∫ oint ∮ sqrt √ angle ∠ perp ⊥ parallel ∥ mid | vert | "
    "lvert | rvert | Vert ‖ lVert ‖ rVert ‖ | ‖ langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ "
    "rceil ⌉ ell ℓ hbar ℏ Re ℜ Im ℑ aleph ℵ prime ′ dagger † ddagger ‡ top ⊤ bot ⊥ models ⊨ "
    "vdash ⊢ triangleq ≜ coloneqq ≔ lesssim ≲ gtrsim ≳ prec ≺ succ ≻ preceq ⪯ succeq ⪰ "
    "square □ blacksquare ■ triangle △ degree ° lbrace { rbrace } { { } } % % & & # # $ $ _ _ "
    "colon : backslash \\ checkmark ✓ bigvee ⋁ bigwedge ⋀ bigoplus ⨁ bigotimes ⨂ coprod ∐ iint ∬ "
    "succsim ≿ precsim ≾ Longrightarrow ⟹ Longleftarrow ⟸ Longleftrightarrow ⟺ longmapsto ⟼ "
    "longleftrightarrow ⟷ hookrightarrow ↪ rightharpoonup ⇀ leadsto ⇝ dashv ⊣ Vdash ⊩ because ∵ "
    "therefore ∴ bowtie ⋈ amalg ⨿ uplus ⊎ sqcup ⊔ sqcap ⊓ sqsubseteq ⊑ sqsupseteq ⊒ nsubseteq ⊈ "
    "subsetneq ⊊ complement ∁ gets ← lt < gt > asymp ≍ doteq ≐ bigcirc ○ diamond ⋄ lozenge ◊"
)
SPACES: Final = frozenset(
    (" ", ",", ";", ":", ">", "quad", "qquad", "enspace", "enskip", "thinspace", "space", "\n")
)
NAMES: Final = frozenset(  # functions that are written by their own name
    "log ln exp sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan max min sup inf lim"
    " limsup liminf arg det dim ker deg gcd Pr hom mod bmod".split()
)
_ACCENTS: Final = MappingProxyType(
    {
        "`": "\u0300",
        "'": "\u0301",
        "^": "\u0302",
        "~": "\u0303",
        "=": "\u0304",
        "u": "\u0306",
        ".": "\u0307",
        '"': "\u0308",
        "r": "\u030a",
        "H": "\u030b",
        "v": "\u030c",
        "d": "\u0323",
        "c": "\u0327",
        "k": "\u0328",
        "b": "\u0331",
    }
)


def is_accent(command: str) -> bool:
    """True when a command puts an accent on the letter behind it."""
    return command in _ACCENTS


def accented(command: str, letter: str) -> str:
    """Put an accent on a letter."""
    base = {"\\i": "i", "\\j": "j", "ı": "i", "ȷ": "j"}.get(letter.strip(), letter.strip())
    return unicodedata.normalize("NFC", base[:1] + _ACCENTS[command]) + base[1:]
