"""Run examples by name, and write a page that shows all of their pictures.

    python tools/run_examples.py tree_votes forest_votes

The pictures and ``index.html`` are in the folder ``out``. Their captions are the texts of the
examples: a section begins with ``# %%``, followed by its text as comments.
"""

from __future__ import annotations

import re
import runpy
import sys
from ast import get_docstring, parse
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from textwrap import dedent

EXAMPLES = Path(__file__).parent.parent / "examples"
OUT = Path("out")

_PICTURE = re.compile(r"""out / ["'](\w+\.(?:png|gif))["']""")
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pictures of Ceiba's examples</title>
<style>
  body {{ margin: 0 auto; padding: 1rem 1.5rem 4rem; max-width: 62rem; color: #222;
         font: 16px/1.5 system-ui, sans-serif; }}
  h1 {{ font-size: 1.7rem; }}
  h2 {{ margin: 3.5rem 0 0.5rem; padding-top: 1rem; border-top: 1px solid #ddd;
       font-size: 1.35rem; }}
  nav ul {{ margin: 0; padding-left: 1.2rem; }}
  p {{ max-width: 46rem; }}
  figure {{ margin: 2rem 0; }}
  figcaption {{ max-width: 46rem; margin-bottom: 0.6rem; }}
  img {{ max-width: 100%; height: auto; }}
  small {{ color: #6b6b6b; }}
  code {{ font-size: 0.92em; }}
</style>
</head>
<body>
<h1>Pictures of Ceiba's examples</h1>
<nav><ul>
{contents}
</ul></nav>
{examples}
</body>
</html>
"""


@dataclass(frozen=True)
class Example:
    """An example: its title, its introduction, and its pictures with captions."""

    name: str
    title: str
    introduction: str
    captions: dict[str, str]  # by file name

    @classmethod
    def read(cls, name: str) -> Example:
        """Read the texts of an example from its source."""
        path = EXAMPLES / f"{name}.py"
        if not path.is_file():
            known = ", ".join(sorted(found.stem for found in EXAMPLES.glob("*.py")))
            raise SystemExit(f"There is no example {name!r}; the examples are {known}.")
        source = path.read_text(encoding="utf-8")
        title, _, introduction = (get_docstring(parse(source)) or name).partition("\n")
        captions = {}
        for section in source.split("\n# %%\n")[1:]:
            for picture in _PICTURE.findall(section):
                captions[picture] = _leading_comment(section)
        return cls(name, title, introduction.lstrip("=\n"), captions)

    def run(self) -> None:
        """Run the example under a heading."""
        print(f"\n{self.title}\n{'=' * len(self.title)}", flush=True)
        runpy.run_path(str(EXAMPLES / f"{self.name}.py"))
        absent = [name for name in self.captions if not (OUT / name).is_file()]
        if absent:
            raise SystemExit(f"{self.name} has not written {', '.join(absent)}.")

    def to_html(self) -> str:
        """Return the section of the page."""
        figures = [
            f"<figure>\n<figcaption>{_inline(caption)} <small>{picture}</small></figcaption>\n"
            f'<img src="{picture}" alt="{escape(_plain(caption))}">\n</figure>'
            for picture, caption in self.captions.items()
        ]
        heading = f'<h2 id="{self.name}">{_inline(self.title)}</h2>'
        source = f"<p><small>examples/{self.name}.py</small></p>"
        return "\n".join([heading, f"<p>{_inline(self.introduction)}</p>", source, *figures])


def _leading_comment(section: str) -> str:
    lines = []
    for line in section.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line[1:].strip())
    return " ".join(lines)


def _inline(text: str) -> str:
    """Return a text as HTML, with ``code`` of reStructuredText."""
    return re.sub(r"``?([^`]+)``?", r"<code>\1</code>", escape(dedent(text), quote=False))


def _plain(text: str) -> str:
    return text.replace("`", "")


def write_page(examples: Sequence[Example]) -> Path:
    """Write the page of all pictures, and return its path."""
    contents = [f'<li><a href="#{e.name}">{_inline(e.title)}</a></li>' for e in examples]
    sections = [example.to_html() for example in examples]
    page = _PAGE.format(contents="\n".join(contents), examples="\n\n".join(sections))
    OUT.mkdir(exist_ok=True)
    path = OUT / "index.html"
    path.write_text(page, encoding="utf-8")
    return path


def main(names: Sequence[str]) -> None:
    """Run the examples, write the page, and name it in a closing line."""
    examples = [Example.read(name) for name in names]
    for example in examples:
        example.run()
    path = write_page(examples)
    n_pictures = sum(len(example.captions) for example in examples)
    print(f"\nAll {n_pictures} pictures with captions: {path}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
