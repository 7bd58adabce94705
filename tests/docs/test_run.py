"""`make run` and `make examples`: headings, a page, and a closing line that names it."""

from __future__ import annotations

import re
import runpy
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from ceiba.cli import main
from tests.paths import ROOT

NAMES = re.search(r"^EXAMPLES := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.fixture
def tool() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / "run_examples.py"))


class Page(HTMLParser):
    """The images of a page, its headings, and the texts inside captions."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.images: list[dict[str, str | None]] = []
        self.texts: dict[str, list[str]] = {"h2": [], "figcaption": []}
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            self.images.append(dict(attrs))
        if tag in self.texts:
            self.texts[tag].append("")
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.texts:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts[self.open[-1]][-1] += data


def test_every_picture_of_the_examples_has_a_caption(tool: dict[str, Any]) -> None:
    assert NAMES is not None
    for name in NAMES[1].split():
        example = tool["Example"].read(name)
        assert example.captions, name
        assert all(len(caption) > 30 for caption in example.captions.values())
        saved = re.findall(
            r'(?:save\(|, )out / "(\w+\.(?:png|gif))"',
            (ROOT / "examples" / f"{name}.py").read_text(),
        )
        assert list(example.captions) == saved


def test_page_shows_all_pictures(
    tool: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert NAMES is not None
    monkeypatch.chdir(tmp_path)
    examples = [tool["Example"].read(name) for name in NAMES[1].split()]
    page = Page(tool["write_page"](examples).read_text(encoding="utf-8"))
    pictures = [picture for example in examples for picture in example.captions]
    assert [image["src"] for image in page.images] == pictures
    assert all(image["alt"] for image in page.images)
    assert page.texts["h2"] == [example.title for example in examples]
    assert len(page.texts["figcaption"]) == len(pictures)
    assert "``" not in "".join(page.texts["figcaption"])


@pytest.mark.slow
def test_running_prints_headings_and_names_the_page(
    tool: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    tool["main"](["kmeans_three_groups", "matlab_iris"])
    printed = capsys.readouterr().out
    for name in ("kmeans_three_groups", "matlab_iris"):
        title = tool["Example"].read(name).title
        assert f"\n{title}\n{'=' * len(title)}\n" in printed
    assert printed.endswith("All 3 pictures with captions: out/index.html\n")
    page = Page((tmp_path / "out" / "index.html").read_text(encoding="utf-8"))
    assert all((tmp_path / "out" / str(image["src"])).is_file() for image in page.images)


@pytest.mark.slow
def test_the_main_job_prints_tables_and_names_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = re.search(
        r"^run: .*\n\t@\$\(BIN\)/ceiba (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE
    )
    assert rule is not None
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    with pytest.raises(SystemExit, match="0"):
        main(rule[1].split())
    printed = capsys.readouterr()
    assert printed.out.startswith("Workshop: seven learners on six tables\n====")
    assert "naive Bayes, TM" in printed.out
    assert printed.err.endswith("Wrote out/workshop.html.\n")
    report = Page((tmp_path / "out" / "workshop.html").read_text(encoding="utf-8"))
    assert report.texts["h2"][:2] == ["Comparison", "Sweep of forest"]


def test_an_unknown_example_is_refused_with_the_known_ones(tool: dict[str, Any]) -> None:
    with pytest.raises(SystemExit, match=r"no example 'forest'; the examples are .*forest_votes"):
        tool["main"](["forest"])


def test_building_is_announced() -> None:
    rules = (ROOT / "Makefile").read_text()
    for target in (".tools", ".installed"):
        rule = re.search(rf"^\$\(VENV\)/\{target}:.*\n\t(.*)$", rules, re.MULTILINE)
        assert rule is not None
        assert rule[1].startswith("@echo"), target
