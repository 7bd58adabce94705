"""Fail on words that must not return: private or ambiguous ones for which the field has a word.

    python tools/check_language.py [PATH ...]

Checked are names, docstrings, comments, messages and pages: every word of every text file of the
given paths, with names split at underscores and capitals. ``ALLOWED`` lists the phrases in which a
word is right. The glossary in ARCHITECTURE.md has the words to use instead.
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
# Files that are about words, made by a tool, or that hold other systems' names.
EXCLUDED = {"tools/check_language.py"}
EXCLUDED_FOLDERS = (
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

# Phrases, in lower case, in which such a word is right.
ALLOWED = (
    "at least", "least squares", "least angle", "at most", "most frequent", "most probable",
    "most likely", "most common", "most confident", "most recent", "confidence level",
    "significance level",
    "high level", "low level", "level wise", "top level", "module level", "level set", "level sets",
    "gap statistic", "gap statistics", "in place", "takes place", "take place", "placeholder",
    "most important", "least important", "most cases", "most of", "requires most", "index level",
    "most nodes", "most rows", "most machines", "most stay", "matters most",
    "most confidently", "place diagram", "first level", "second level",
    "to place", "place v", "contour levels", "density levels", "cut off", "cutoff", "cross cut",
    "decimal place", "decimal places", "gap values", "clear cut",
    "bouldin gap", "gap references",
)  # fmt: skip

# Words that are right in some files and folders: MATLAB's CutPoint, Level and MostPopular, Netlab's
# centres, an option of the documentation's theme, the gap statistic of clusterings, the levels of
# a contour in matplotlib, keys of golden files; and former names in the changelog.
ALLOWED_IN = {
    "examples/matlab_": {"level"},
    "examples/netlab_": {"centre", "centres", "levels"},
    "tests/tree/test_j48.py": {"gaps", "levels"},
    "src/ceiba/cluster/selection/": {"gap"},
    "src/ceiba/plots/clustering/": {"gap"},
    "src/ceiba/plots/mixtures/": {"level", "levels"},
    "tests/cluster/selection/": {"gap"},
    "tests/plots/clustering/": {"gap"},
    "tests/plots/mixtures/": {"level", "levels"},
    "tests/oracles/validity_oracle.py": {"gap"},
    "src/ceiba/compat/matlab/": {"cut", "level", "most"},
    "tests/compat/matlab/": {"cut", "level", "most"},
    "src/ceiba/compat/netlab/": {"centre", "centres"},
    "tests/compat/netlab/": {"centre", "centres"},
    "docs/coming_from/matlab.rst": {"cut", "level", "most"},
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
    """Return line number and word for every forbidden word outside of an allowed phrase."""
    found = []
    lines = [words_of(line) for line in text.splitlines()]
    for number, words in enumerate(lines, 1):
        before = lines[number - 2][-1:] if number > 1 else []
        after = lines[number][:1] if number < len(lines) else []
        padded = [*before, *words, *after]
        for index in range(len(before), len(before) + len(words)):
            word = padded[index]
            if word in FORBIDDEN and not _is_allowed(padded, index):
                found.append((number, word))
    return found


def _is_allowed(words: list[str], index: int) -> bool:
    pairs = (words[max(0, index - 1) : index + 1], words[index : index + 2])
    return any(" ".join(pair) in ALLOWED for pair in pairs)


def files(paths: list[str]) -> list[Path]:
    """Return the text files below the paths."""
    every = (Path(path) for path in paths)
    nested = (path.rglob("*") if path.is_dir() else [path] for path in every)
    return sorted(
        file
        for group in nested
        for file in group
        if file.suffix in SUFFIXES
        and file.as_posix() not in EXCLUDED
        and not file.as_posix().startswith(EXCLUDED_FOLDERS)
    )


def main(paths: list[str]) -> int:
    """Print the findings and return the exit code."""
    count = 0
    for file in files(paths or list(PATHS)):
        names = [words for folder, words in ALLOWED_IN.items() if folder in file.as_posix()]
        for number, word in findings(file.read_text(encoding="utf-8")):
            if any(word in words for words in names):
                continue
            print(f"{file}:{number}: {word!r}: use {FORBIDDEN[word]}")
            count += 1
    if count:
        print(f"{count} words of the word list; see the glossary in ARCHITECTURE.md")
    return 1 if count else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
