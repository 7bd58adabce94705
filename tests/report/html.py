"""Read pages of reports: balanced tags, ids, texts and tables."""

from __future__ import annotations

import re
from html.parser import HTMLParser

VOID = {"meta", "img", "br", "hr", "link", "input"}


class PageReader(HTMLParser):
    """Collect the elements of a page; raise if tags are not balanced."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(html)
        self.close()
        assert self.open == [], f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and data.strip():
            self.texts.append((self.open[-1], data.strip()))

    def of(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of all elements of a tag."""
        return [attributes for name, attributes in self.tags if name == tag]

    def text_of(self, tag: str) -> list[str]:
        """Return the texts directly inside of a tag."""
        return [text for name, text in self.texts if name == tag]

    @property
    def ids(self) -> list[str]:
        return [str(attributes["id"]) for _, attributes in self.tags if "id" in attributes]


def check_page(html: str) -> PageReader:
    """Check what holds for every page, and return its elements."""
    page = PageReader(html)
    assert len(page.ids) == len(set(page.ids))
    assert not re.findall(r"https?://", html)
    assert not [target for target in re.findall(r"url\(([^)]*)", html) if target[0] != "#"]
    assert not page.of("link")
    assert len(page.of("script")) == 1  # that of the tables
    links = [a.get("href") or a.get("xlink:href") or a.get("src") for _, a in page.tags]
    inside = {f"#{name}" for name in page.ids}
    assert all(link in inside or link.startswith("data:") for link in links if link)
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html
    for picture in (*page.of("svg"), *page.of("img")):
        assert picture.get("aria-label") or picture.get("alt")
    for table in page.of("table"):
        assert table["class"] == "sortable"
    heads = [head for head in page.of("th") if head.get("scope") == "col"]
    assert all(head["aria-sort"] == "none" for head in heads)
    assert len(page.of("button")) == len(heads)
    assert all("data-sort" in cell for cell in page.of("td"))
    return page
