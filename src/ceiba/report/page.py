"""A self-contained HTML page: headings, sentences, sortable tables, figures and notes.

Nothing is loaded from elsewhere, and every text is escaped.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from html import escape
from pathlib import Path
from typing import Any

import ceiba
from ceiba.data.io.files import check_file_path, open_replacement
from ceiba.report.pictures import picture_html
from ceiba.report.style import CSS, SCRIPT


@dataclass(frozen=True, slots=True)
class Entry:
    """A cell of a table.

    Parameters
    ----------
    text : str
    value : float, str or None
        What rows are sorted by; None for last.
    is_best : bool
        Whether the cell is emphasized.
    """

    text: str
    value: float | str | None = None
    is_best: bool = False

    @classmethod
    def of(cls, value: Any) -> Entry:
        """Return the cell of a text or number, or the cell itself; None is a dash."""
        if isinstance(value, Entry):
            return value
        if value is None:
            return cls("–")
        if isinstance(value, bool | str):
            return cls(str(value), str(value))
        if isinstance(value, int):
            return cls(f"{value:,}", value)
        return cls(number_text(float(value)), float(value))

    def html(self, tag: str) -> str:
        """Return the HTML of the cell, with what it is sorted by."""
        is_number = isinstance(self.value, int | float) and math.isfinite(self.value)
        key = "" if self.value is None else repr(self.value) if is_number else str(self.value)
        names = " ".join(["number"] * is_number + ["best"] * self.is_best)
        style = f' class="{names}"' if names else ""
        scope = ' scope="row"' if tag == "th" else ""
        return f'<{tag}{scope}{style} data-sort="{escape(key)}">{escape(self.text)}</{tag}>'


def number_text(value: float) -> str:
    """Return a number with three significant digits.

    Examples
    --------
    >>> number_text(0.012345), number_text(1234.5), number_text(1e-7)
    ('0.0123', '1,230', '1e-07')
    """
    rounded = float(f"{value:.3g}")
    if rounded and not 1e-4 <= abs(rounded) < 1e6:
        return f"{rounded:.3g}"
    digits = max(0, 2 - math.floor(math.log10(abs(rounded)))) if rounded else 0
    return f"{rounded:,.{digits}f}"


class Page:
    """A page that is put together from top to bottom.

    Parameters
    ----------
    title : str
    subtitle : str
    key : str
        Distinguishes pages of the same title, such as those of two tables in one notebook.

    Examples
    --------
    >>> page = Page("Trees")
    >>> page.heading("Scores")
    >>> page.table(["learner", "accuracy"], [["tree", 0.9]], caption="Accuracy")
    >>> html = page.to_html()
    >>> html[:15], "https://" in html
    ('<!DOCTYPE html>', False)
    """

    def __init__(self, title: str, subtitle: str = "", key: str = "") -> None:
        self.title = title
        self.subtitle = subtitle
        self._parts: list[str] = []
        self._headings: list[tuple[int, str]] = []
        self._n_figures = 0
        # Ids of two pages in one notebook must differ; those of one page are the same every time.
        self._prefix = f"c{blake2b((title + key).encode(), digest_size=3).hexdigest()}-"

    def heading(self, text: str, *, depth: int = 2) -> None:
        """Start a section; those of depth 2 and 3 are in the table of contents."""
        anchor = ""
        if depth <= 3:
            self._headings.append((depth, text))
            anchor = f' id="{self._prefix}s{len(self._headings)}"'
        self._parts.append(f"<h{depth}{anchor}>{escape(text)}</h{depth}>")

    def text(self, *sentences: str) -> None:
        """Add a paragraph for each text."""
        self._parts += [f"<p>{escape(text)}</p>" for text in sentences if text]

    def code(self, text: str) -> None:
        """Add lines of code."""
        self._parts.append(f"<pre>{escape(text)}</pre>")

    def notes(self, notes: Iterable[tuple[str, str]]) -> None:
        """Add a list of (severity, text); nothing if there are none."""
        lines = [
            f'<li class="{escape(severity)}"><strong>{escape(severity.capitalize())}:</strong> '
            f"{escape(text)}</li>"
            for severity, text in notes
        ]
        if lines:
            self._parts.append(f'<ul class="notes">{"".join(lines)}</ul>')

    def table(
        self,
        head: Sequence[str],
        rows: Iterable[Sequence[Any]],
        *,
        caption: str,
        below: Sequence[str] = (),
    ) -> None:
        """Add a table that a click or the Enter key on a head sorts.

        Parameters
        ----------
        head : sequence of str
        rows : iterable of sequences
            Texts, numbers, None or `Entry`; the first cell of a row is its head.
        caption : str
            What the table shows.
        below : sequence of str
            Sentences below the table.
        """
        heads = "".join(
            f'<th scope="col" aria-sort="none"><button type="button">{escape(name)}</button></th>'
            for name in head
        )
        body = "".join(f"<tr>{_row_html(row)}</tr>" for row in rows)
        label = escape(caption)
        self._parts.append(
            f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">'
            f'<table class="sortable"><caption>{label}</caption>'
            f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
        )
        self._parts += [f'<p class="below">{escape(text)}</p>' for text in below]

    def figure(self, figure: Any, *, alt: str, caption: str = "") -> None:
        """Add a figure of matplotlib, with the text for readers who do not see it."""
        self._n_figures += 1
        picture = picture_html(figure, alt, f"{self._prefix}f{self._n_figures}-")
        below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
        self._parts.append(f'<figure><div class="picture">{picture}</div>{below}</figure>')

    def to_html(self) -> str:
        """Return the whole page."""
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n'
            f"<title>{escape(self.title)}</title>\n<style>{CSS}</style>\n</head>\n"
            f'<body class="ceiba-report">\n{self._main("h1")}\n<script>{SCRIPT}</script>\n'
            "</body>\n</html>\n"
        )

    def to_fragment(self) -> str:
        """Return the page for a notebook, in a box of its own."""
        return (
            f'<style>{CSS}</style><div class="ceiba-report">{self._main("h2")}</div>'
            f"<script>{SCRIPT}</script>"
        )

    def _main(self, tag: str) -> str:
        title = f"<{tag}>{escape(self.title)}</{tag}>"
        subtitle = f'<p class="subtitle">{escape(self.subtitle)}</p>' if self.subtitle else ""
        lines = [
            f'<li class="depth{depth}"><a href="#{self._prefix}s{i}">{escape(text)}</a></li>'
            for i, (depth, text) in enumerate(self._headings, 1)
        ]
        contents = ""
        if len(lines) > 2:
            contents = f'<nav aria-label="Contents"><ul>{"".join(lines)}</ul></nav>'
        parts = "\n".join(self._parts)
        footer = f"<footer>Written by Ceiba {ceiba.__version__}.</footer>"
        return f"<main>\n<header>{title}{subtitle}</header>\n{contents}\n{parts}\n{footer}\n</main>"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file, which is complete or unchanged; return its path.

        The folder is made if it does not exist.
        """
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        check_file_path(target)
        with open_replacement(target) as file:
            file.write(self.to_html().encode())
        return target


def _row_html(row: Sequence[Any]) -> str:
    first, *rest = [Entry.of(value) for value in row]
    return first.html("th") + "".join(entry.html("td") for entry in rest)
