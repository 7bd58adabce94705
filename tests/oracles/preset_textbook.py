"""Tables of textbooks, parsed from text, and trees as nested dictionaries."""

from __future__ import annotations

from dataclasses import dataclass

from tests.oracles.preset_naive import PresetProblem, leaf_probabilities
from tests.oracles.preset_sums import cheapest
from tests.oracles.tree_candidates import Column
from tests.oracles.tree_impurity import Target
from tests.oracles.tree_tables import Table

# Quinlan (1993), "C4.5", table 1.1, with the unknown outlook of his section 3.
GOLF = """\
outlook temperature humidity windy play
sunny    75 70 true  play
sunny    80 90 true  don't
sunny    85 85 false don't
sunny    72 95 false don't
sunny    69 70 false play
?        72 90 true  play
overcast 83 78 false play
overcast 64 65 true  play
overcast 81 75 false play
rain     71 80 true  don't
rain     65 70 true  don't
rain     75 80 false play
rain     68 80 false play
rain     70 96 false play
"""
# Quinlan (1986), "Induction of decision trees", table 1.
WEATHER = """\
outlook temperature humidity windy play
sunny    hot  high   false no
sunny    hot  high   true  no
overcast hot  high   false yes
rain     mild high   false yes
rain     cool normal false yes
rain     cool normal true  no
overcast cool normal true  yes
sunny    mild high   false no
sunny    cool normal false yes
rain     mild normal false yes
sunny    mild normal true  yes
overcast mild high   true  yes
overcast hot  normal false yes
rain     mild high   true  no
"""
# Tan, Steinbach & Kumar (2006), "Introduction to data mining", table 4.3, with the bat and the
# whale labeled as the mammals that they are.
MAMMALS = """\
body_temperature gives_birth four_legged hibernates mammal
warm yes yes yes yes
warm yes yes no  yes
warm yes no  yes yes
warm yes no  no  yes
cold no  yes yes no
cold no  yes no  no
cold no  no  yes no
cold no  no  no  no
warm no  no  no  no
cold yes no  no  no
"""

# Cendrowska (1987), "PRISM": lenses for a normal tear rate, by age, sight and astigmatism.
LENSES = {
    ("young", "near"): ("soft", "hard"), ("young", "far"): ("soft", "hard"),
    ("middle", "near"): ("soft", "hard"), ("middle", "far"): ("soft", "none"),
    ("old", "near"): ("none", "hard"), ("old", "far"): ("soft", "none"),
}  # fmt: skip


def lenses():
    """Return the 24 rows of the contact lenses; with a reduced tear rate none fit."""
    rows = ["age prescription astigmatism tear_rate lenses"]
    for person, suited in LENSES.items():
        for astigmatism, found in zip(("no", "yes"), suited, strict=True):
            rows.append(" ".join([*person, astigmatism, "reduced none"]))
            rows.append(" ".join([*person, astigmatism, "normal", found]))
    return "\n".join(rows)


@dataclass(frozen=True)
class Textbook:
    """A table with the names of its columns and classes."""

    names: list
    classes: list
    table: Table

    def problem(self, options):
        return PresetProblem(self.table.columns, self.table.target, options)

    def frame(self):
        return self.table.frame.set_axis(self.names, axis=1)

    def labels(self):
        return [self.classes[k] for k in self.table.target.values]

    def row(self, **values):
        """Return a row of the given values; all others are missing."""
        return [
            coded(column, values.get(name))
            for name, column in zip(self.names, self.table.columns, strict=True)
        ]


def coded(column, value):
    return value if value is None or not column.labels else column.labels.index(value)


def textbook(text):
    """Parse a table: words are nominal, numbers numeric, the last column is the class."""
    names, *rows = [line.split() for line in text.splitlines()]
    *columns, target = list(zip(*rows, strict=True))
    classes = sorted(set(target))
    values = [classes.index(label) for label in target]
    table = Table(
        [column_of(words) for words in columns],
        Target(values, [1] * len(rows), len(classes)),
        weighted=False,
    )
    return Textbook(names[:-1], classes, table)


def column_of(words):
    if all(word.isdigit() or word == "?" for word in words):
        return Column("float", [None if word == "?" else float(word) for word in words])
    labels = tuple(sorted(set(words) - {"?"}))
    return Column("nominal", [None if w == "?" else labels.index(w) for w in words], labels)


# Trees as dictionaries


def outline(book, problem, nodes, index=0):
    """Return nested dictionaries {column: {branch: ...}}, with class names as leaves."""
    node = nodes[index]
    if node.split is None:
        return book.classes[
            cheapest(leaf_probabilities(problem, nodes, index), problem.options.costs)
        ]
    test = node.split.test
    words = branch_words(problem.columns[test.column], test)
    below = [outline(book, problem, nodes, child) for child in node.children]
    return {book.names[test.column]: dict(zip(words, below, strict=True))}


def branch_words(column, test):
    if test.groups is None:
        words = [f"<= {t:g}" for t in test.thresholds] + [f"> {test.thresholds[-1]:g}"]
    else:
        words = [", ".join(column.labels[code] for code in group) for group in test.groups]
    return words + ["?"] * (test.n_branches - len(words))
