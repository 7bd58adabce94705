"""Pages: escaped texts, sortable tables, pictures, and files that are complete or unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ceiba.plots import style
from ceiba.report import pictures
from ceiba.report.page import Entry, Page, number_text
from tests.report.html import PageReader, check_page

HOSTILE = "<script>alert('x')</script>\"&--><b>"


def small_figure() -> Any:
    ax = style.new_axes(2, 1.5)
    ax.plot([0, 1, 2], [0, 2, 1])
    ax.set_title("a & b")
    return ax.figure


def test_every_text_is_escaped() -> None:
    page = Page(HOSTILE, HOSTILE)
    page.heading(HOSTILE)
    page.heading(HOSTILE, depth=3)
    page.heading(HOSTILE, depth=4)
    page.text(HOSTILE)
    page.code(HOSTILE)
    page.notes([("warning", HOSTILE)])
    page.table([HOSTILE], [[HOSTILE]], caption=HOSTILE, below=[HOSTILE])
    figure = small_figure()
    figure.axes[0].set_xlabel(HOSTILE)
    page.figure(figure, alt=HOSTILE, caption=HOSTILE)
    html = page.to_html()
    found = check_page(html)
    assert "alert('x')" not in html
    assert html.count("<b>") == 0
    for tag in (
        "title",
        "h1",
        "h2",
        "h3",
        "h4",
        "p",
        "pre",
        "li",
        "button",
        "caption",
        "figcaption",
    ):
        assert HOSTILE in found.text_of(tag), tag
    assert found.of("svg")[0]["aria-label"] == HOSTILE


def test_contents_link_to_the_headings() -> None:
    page = Page("Title")
    for name in ("One", "Two", "Three"):
        page.heading(name)
    found = check_page(page.to_html())
    assert found.text_of("a") == ["One", "Two", "Three"]
    assert [link["href"] for link in found.of("a")] == [f"#{name}" for name in found.ids]


def test_cells_have_what_they_are_sorted_by() -> None:
    page = Page("Title")
    rows = [["a", 1234, 0.5, None], ["b", True, Entry("0.9 •", 0.9, is_best=True), "text"]]
    page.table(["name", "n", "score", "other"], rows, caption="Numbers")
    found = check_page(page.to_html())
    assert [cell["data-sort"] for cell in found.of("td")] == [
        "1234",
        "0.5",
        "",
        "True",
        "0.9",
        "text",
    ]
    assert [cell.get("class") for cell in found.of("td")] == [
        "number", "number", None, None, "number best", None,
    ]  # fmt: skip
    assert found.text_of("td") == ["1,234", "0.500", "–", "True", "0.9 •", "text"]
    assert [head["data-sort"] for head in found.of("th") if head["scope"] == "row"] == ["a", "b"]
    region = next(part for part in found.of("div") if part.get("role") == "region")
    assert region["tabindex"] == "0"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (0.99951, "1.00"), (12345.6, "12,300"), (2.5e7, "2.5e+07"), (-0.0123, "-0.0123")],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert number_text(value) == text


def test_ids_of_figures_do_not_collide() -> None:
    page = Page("Title")
    page.figure(small_figure(), alt="first")
    page.figure(small_figure(), alt="second")
    html = page.to_html()
    assert len(check_page(html).of("svg")) == 2
    other = Page("Other title")
    other.figure(small_figure(), alt="first")
    assert not set(PageReader(html).ids) & set(PageReader(other.to_html()).ids)


def test_large_figures_are_images(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MAX_SVG_BYTES", 100)
    page = Page("Title")
    page.figure(small_figure(), alt='a "large" figure')
    (image,) = check_page(page.to_html()).of("img")
    assert str(image["src"]).startswith("data:image/png;base64,iVBOR")
    assert image["alt"] == 'a "large" figure'


def test_the_same_page_has_the_same_bytes() -> None:
    def html() -> str:
        page = Page("Title")
        page.figure(small_figure(), alt="lines")
        return page.to_html()

    assert html() == html()


def test_a_fragment_is_balanced_and_changes_nothing_around_it() -> None:
    page = Page("Title")
    page.table(["a"], [["b"]], caption="c")
    found = PageReader(page.to_fragment())
    assert not found.of("body")
    (style_text,) = found.text_of("style")
    rules = [line for line in style_text.splitlines() if line.endswith("{") or "{ " in line]
    assert all(
        ".ceiba-report" in line or line.startswith("@media") or line.strip().startswith("--")
        for line in rules
    )


def test_files_are_complete_or_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "new folder" / "page.html"
    assert Page("First").save(path) == path
    before = path.read_text(encoding="utf-8")
    page = Page("Second")
    monkeypatch.setattr(page, "to_html", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        page.save(path)
    assert path.read_text(encoding="utf-8") == before
    assert list(path.parent.iterdir()) == [path]


def test_paths_that_cannot_be_written_raise(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="path must be a file, got the folder"):
        Page("Title").save(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError, match="file"):
        Page("Title").save(tmp_path / "file" / "page.html")
