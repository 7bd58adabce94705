"""Figures of matplotlib as HTML: inline SVG, or PNG where that is smaller."""

from __future__ import annotations

import re
from base64 import b64encode
from html import escape
from io import BytesIO
from typing import Any

# Above this size an SVG of thousands of marks is replaced by a PNG.
MAX_SVG_BYTES = 250_000
_PNG_DPI = 144


def picture_html(figure: Any, alt: str, prefix: str) -> str:
    """Return a figure as inline SVG, or as an image if it would be large.

    Parameters
    ----------
    figure : matplotlib Figure
    alt : str
        What the figure shows, for readers who do not see it.
    prefix : str
        Start of all ids inside of the SVG, different for each figure of a page.

    Examples
    --------
    >>> from ceiba.plots import style
    >>> picture_html(style.new_figure(1, 1), "an empty figure", "f1-")[:29]
    '<svg role="img" aria-label="a'
    """
    svg = _svg(figure, prefix)
    if len(svg) <= MAX_SVG_BYTES:
        return svg.replace("<svg", f'<svg role="img" aria-label="{escape(alt)}"', 1)
    file = BytesIO()
    figure.savefig(file, format="png", dpi=_PNG_DPI, metadata={"Software": None})
    width = round(figure.get_figwidth() * 96)
    data = b64encode(file.getvalue()).decode()
    return f'<img alt="{escape(alt)}" width="{width}" src="data:image/png;base64,{data}">'


def _svg(figure: Any, prefix: str) -> str:
    """Return an SVG without addresses, comments and styles of its own, the same every time."""
    from matplotlib import rc_context

    file = BytesIO()
    # The hashes that are ids of paths depend on the salt, which is random by default.
    with rc_context({"svg.hashsalt": "ceiba", "svg.fonttype": "path"}):
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    text = file.getvalue().decode()
    text = text[text.index("<svg") :]
    for pattern in (r"<!--.*?-->", r"<metadata>.*?</metadata>", r"<style.*?</style>"):
        text = re.sub(pattern, "", text, flags=re.DOTALL)
    # HTML needs no declared namespaces of SVG without their declarations.
    text = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", text)
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', text))
    # Groups have ids that nothing refers to, and that may occur twice.
    text = re.sub(
        r'\sid="([^"]*)"',
        lambda found: f' id="{prefix}{found[1]}"' if found[1] in used else "",
        text,
    )
    text = re.sub(r'(href="|url\()#', rf"\g<1>#{prefix}", text)
    return re.sub(r">\s+<", "><", text).strip()
