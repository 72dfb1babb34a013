"""LaTeX commands and environments that show nothing, or less than they hold.

Arguments are written as `Source.skip` reads them: `{` for a braced one, `[` for an optional one.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

UNREAD: Final = MappingProxyType(  # commands whose arguments are no text
    {
        "addbibresource": "[{",
        "addcontentsline": "{{{",
        "addtocounter": "{{",
        "addtolength": "{{",
        "affil": "[{",
        "affiliation": "[{",
        "address": "[{",
        "author": "[{",
        "bibliography": "{",
        "bibliographystyle": "{",
        "color": "[{",
        "definecolor": "{{{",
        "documentclass": "[{",
        "email": "{",
        "fontsize": "{{",
        "footnotemark": "[",
        "geometry": "{",
        "graphicspath": "{",
        "hspace": "{",
        "hypersetup": "{",
        "hyphenation": "{",
        "include": "{",
        "includegraphics": "[{",
        "includepdf": "[{",
        "input": "{",
        "index": "[{",
        "institute": "{",
        "label": "{",
        "lstset": "{",
        "newcounter": "{[",
        "newenvironment": "{[[{{",
        "newlength": "{",
        "newtheorem": "{[{[",
        "nocite": "{",
        "pagenumbering": "{",
        "pagestyle": "{",
        "phantom": "{",
        "phantomsection": "",
        "renewenvironment": "{[[{{",
        "RequirePackage": "[{",
        "rowcolor": "[{",
        "cellcolor": "[{",
        "rule": "[{{",
        "selectlanguage": "{",
        "setcounter": "{{",
        "setlength": "{{",
        "thanks": "{",
        "thispagestyle": "{",
        "titlespacing": "{{{{",
        "todo": "[{",
        "usepackage": "[{",
        "usetikzlibrary": "{",
        "vphantom": "{",
        "hphantom": "{",
        "vspace": "{",
    }
)
PREFIXED: Final = MappingProxyType(  # commands whose text comes behind arguments that are none
    {
        "colorbox": "[{",
        "fcolorbox": "[{{",
        "foreignlanguage": "[{",
        "href": "[{",
        "hyperref": "[",
        "makebox": "[[",
        "multicolumn": "{{",
        "multirow": "[{[{[",
        "parbox": "[[[{",
        "raisebox": "{[[",
        "resizebox": "{{",
        "rotatebox": "[{",
        "scalebox": "{[",
        "textcolor": "[{",
    }
)
DIMENSIONED: Final = frozenset(("vskip", "hskip", "kern", "parskip", "parindent", "baselineskip"))

UNREAD_ENVIRONMENTS: Final = frozenset(
    "comment tikzpicture tikzcd pgfpicture picture forest CCSXML filecontents filecontents*".split()
)
CODE_ENVIRONMENTS: Final = MappingProxyType(
    {
        "verbatim": "",
        "verbatim*": "",
        "Verbatim": "[",
        "Verbatim*": "[",
        "lstlisting": "[",
        "minted": "[{",
        "alltt": "",
        "algorithmic": "[",
    }
)
FLOATS: Final = MappingProxyType(
    {
        "figure": "[",
        "table": "[",
        "wrapfigure": "[{[{",
        "wraptable": "[{[{",
        "sidewaysfigure": "[",
        "sidewaystable": "[",
        "algorithm": "[",
        "listing": "[",
        "SCfigure": "[[",
    }
)
LISTS: Final = frozenset(
    ("itemize", "enumerate", "description", "compactitem", "compactenum", "inparaenum", "list")
)
DISPLAYS: Final = frozenset(
    "equation align alignat flalign gather multline eqnarray displaymath math dmath split".split()
)
ENVIRONMENT_ARGUMENTS: Final = MappingProxyType(
    {
        "minipage": "[[[{",
        "multicols": "{[",
        "adjustbox": "{",
        "subfigure": "[{",
        "subtable": "[{",
        "thebibliography": "{",
        "spacing": "{",
        "tcolorbox": "[",
        "list": "{{",
        "enumerate": "[",
        "itemize": "[",
        "description": "[",
    }
)
