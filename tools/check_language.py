"""Fail on words that must not return: private or ambiguous ones for which the field has a word.

    python tools/check_language.py [PATH ...]

Run it from the root of the repository. Checked are names, docstrings, comments, messages and pages:
every word of every text file below the paths, with names split at underscores and capitals.
``FORBIDDEN`` has the words and what to use instead, ``ALLOWED`` the phrases of two words in which
such a word is right, and ``ALLOWED_IN`` the files in which it is. The glossary is in
ARCHITECTURE.md.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

PATHS = (
    "src", "cpp", "tests", "docs", "benchmarks", "examples", "tools",
    "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md",
)  # fmt: skip
SUFFIXES = {".py", ".pyi", ".cpp", ".hpp", ".rst", ".md"}
# Starts of paths: this file, files made by a tool, and files that hold other systems' names.
EXCLUDED = (
    "tools/check_language.py",
    "tests/golden/",
    "src/ceiba/datasets/tables/",
    "docs/_build/",
    "docs/_generated/",
    "docs/gallery/",
)

# Word -> the word to use instead.
FORBIDDEN = {
    "abreast": "lanes",
    "blame": "error context",
    "blaming": "error context",
    "centre": "center",
    "centres": "centers",
    "colour": "color",
    "colours": "colors",
    "committee": "ensemble",
    "committees": "ensembles",
    "cut": "threshold, or pruned node",
    "cuts": "thresholds, or pruned nodes",
    "gap": "missing value",
    "gaps": "missing values",
    "heed": "use",
    "heir": "replacement",
    "learnt": "fitted",
    "least": "min",
    "lesson": "fitter",
    "level": "category, depth, pruning step or confidence level",
    "levels": "categories, depths, pruning steps",
    "lot": "bootstrap sample",
    "lots": "bootstrap samples",
    "most": "max",
    "nobody": "(rephrase)",
    "place": "index",
    "places": "indices",
    "podium": "top k",
    "said": "predicted",
    "say": "estimator weight, or predict",
    "says": "predicts, returns",
    "seedling": "subtree root",
    "spoken": "predicted",
    "survey": "summary",
    "surveyed": "summarized",
    "told": "predicted, given",
    "verdict": "decision",
    "voice": "prediction mode",
    "voices": "prediction modes",
    "whoever": "(rephrase)",
    "whom": "(rephrase)",
    "wish": "config",
    "wishes": "config",
}

# Phrases of two words, in lower case, in which such a word is right.
ALLOWED = (
    "at least", "least squares", "least important", "at most", "most frequent", "most probable",
    "most common", "most recent", "most confidently", "most important", "most cases", "most of",
    "requires most", "most nodes", "most rows", "most machines", "most stay", "matters most",
    "confidence level", "high level", "level wise", "top level", "index level", "first level",
    "second level", "contour levels", "density levels", "gap statistic", "bouldin gap",
    "gap references", "in place", "to place", "place v", "place diagram", "cut off",
    "isolation level",
)  # fmt: skip

# Start of a path -> words that are right there: MATLAB's CutPoint, Level and MostPopular, Netlab's
# centres, an option of the documentation's theme, the gap statistic of clusterings, the levels of
# a contour in matplotlib, keys of golden files; and former names in the changelog.
ALLOWED_IN = {
    "examples/matlab_": {"level"},
    "examples/netlab_": {"centres", "levels"},
    "tests/tree/test_j48.py": {"gaps", "levels"},
    "src/ceiba/cluster/selection/": {"gap"},
    "src/ceiba/plots/clustering.py": {"gap"},
    "src/ceiba/plots/mixtures/": {"level", "levels"},
    "tests/cluster/selection/": {"gap"},
    "tests/plots/test_cluster_choice.py": {"gap"},
    "tests/plots/mixtures/": {"level", "levels"},
    "src/ceiba/compat/matlab/": {"cut", "level", "most"},
    "tests/compat/matlab/": {"cut", "level", "most"},
    "src/ceiba/compat/netlab/": {"centre", "centres"},
    "tests/compat/netlab/": {"centre", "centres"},
    "docs/coming_from/matlab.rst": {"level"},
    "docs/conf.py": {"level"},
    "CHANGELOG.md": {
        "centre",
        "centres",
        "cut",
        "gaps",
        "level",
        "levels",
        "lots",
        "place",
        "survey",
    },
}

_WORD = re.compile(r"[A-Za-z]+")
_SPLIT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")


def words_of(line: str) -> list[str]:
    """Return the lower-case words of a line, with names split into their parts."""
    return [word.lower() for word in _WORD.findall(_SPLIT.sub(" ", line))]


def findings(text: str) -> list[tuple[int, str]]:
    """Return line number and word for every forbidden word outside of an allowed phrase.

    A phrase may go on in the next line.
    """
    lines = enumerate(text.splitlines(), 1)
    words = [(number, word) for number, line in lines for word in words_of(line)]
    before, after = [(0, ""), *words], [*words[1:], (0, "")]
    return [
        (number, word)
        for (_, left), (number, word), (_, right) in zip(before, words, after, strict=False)
        if word in FORBIDDEN and not {f"{left} {word}", f"{word} {right}"} & set(ALLOWED)
    ]


def text_files(paths: list[str]) -> list[Path]:
    """Return the text files below the paths, except the excluded ones."""
    found = {
        file
        for path in map(Path, paths)
        for file in (path.rglob("*") if path.is_dir() else [path])
        if file.suffix in SUFFIXES
    }
    return sorted(file for file in found if not file.as_posix().startswith(EXCLUDED))


def main(paths: list[str]) -> int:
    """Print the findings and return the exit code."""
    count = 0
    for file in text_files(paths or list(PATHS)):
        name = file.as_posix()
        allowed = set().union(*(w for start, w in ALLOWED_IN.items() if name.startswith(start)))
        for number, word in findings(file.read_text(encoding="utf-8")):
            if word not in allowed:
                print(f"{file}:{number}: {word!r}: use {FORBIDDEN[word]}")
                count += 1
    if count:
        print(f"{count} words of the word list; see the glossary in ARCHITECTURE.md")
    return 1 if count else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
