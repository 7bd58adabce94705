"""Code of nested if statements, for languages that have functions: Python and C."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ceiba.export.code.trees.conditions import Language, NodeTests
from ceiba.export.code.trees.model import CodeTree

# A subtree from each multiple of this depth on is a function of its own: languages limit nesting.
_DEPTH_PER_FUNCTION = 40


class NestedLanguage(Language):
    """Statements of one language, as lines without indentation."""

    indent = "    "

    def function(self, name: str) -> list[str]:
        """Return the first lines of a function of a row that returns an index."""
        raise NotImplementedError

    def unused(self) -> list[str]:
        """Return the lines of a function that does not use the row."""
        return []

    def function_end(self) -> list[str]:
        """Return the last lines of a function."""
        raise NotImplementedError

    def if_line(self, word: str, test: str, comment: str) -> str:
        """Return the line of an ``if``, ``elif`` or ``else`` (without a test)."""
        raise NotImplementedError

    def block_end(self) -> list[str]:
        """Return the line after the last block of an if statement."""
        raise NotImplementedError

    def return_line(self, value: str) -> str:
        """Return the line that returns a value."""
        raise NotImplementedError

    def call(self, name: str) -> str:
        """Return the call of a function of the row."""
        raise NotImplementedError

    def blocks(self, cases: Sequence[tuple[str | None, str, list[str]]]) -> list[str]:
        """Return an if statement; a case has a test (None for ``else``), a comment and lines."""
        lines = []
        for i, (test, comment, body) in enumerate(cases):
            word = "else" if test is None else "elif" if i else "if"
            lines.append(self.if_line(word, test or "", comment))
            lines += [self.indent + line for line in body]
        return lines + self.block_end()


def tree_functions(language: NestedLanguage, code_tree: CodeTree, name: str) -> Iterator[list[str]]:
    """Yield functions that return the row of a tree's prediction, inner ones first."""
    tree = code_tree.tree
    roots = [
        node
        for node in range(tree.n_nodes)
        if tree.depth[node] % _DEPTH_PER_FUNCTION == 0 and (node == 0 or not tree.is_leaf[node])
    ]
    for root in reversed(roots):
        lines = language.unused() if tree.is_leaf[root] else []
        lines += _subtree(language, code_tree, name, root, root)
        yield [
            *language.function(_function_name(name, root)),
            *(language.indent + line for line in lines),
            *language.function_end(),
        ]


def _function_name(name: str, node: int) -> str:
    return name if node == 0 else f"{name}_node_{node}"


def _subtree(
    language: NestedLanguage, code_tree: CodeTree, name: str, node: int, root: int
) -> list[str]:
    tree = code_tree.tree
    if tree.is_leaf[node]:
        return [language.return_line(str(int(code_tree.row_of_leaf[node])))]
    if node != root and tree.depth[node] % _DEPTH_PER_FUNCTION == 0:
        return [language.return_line(language.call(_function_name(name, node)))]
    tests = NodeTests(language, tree, node, code_tree.columns)
    children = tree.children(node)
    cases = []
    for branch, child in enumerate(children):
        # Every row takes one of the branches: the last one needs no test.
        test = tests.taken(branch) if branch < len(children) - 1 else None
        comment = "" if branch else tree.split(node).name
        cases.append((test, comment, _subtree(language, code_tree, name, child, root)))
    return language.blocks(cases)


def branch_weights(
    language: Language, code_tree: CodeTree, branch_weight: Callable[[str, str, float], str]
) -> Iterator[tuple[int, int, str]]:
    """Yield branch, parent and the weight of the branch relative to its parent.

    A row without a value takes all branches, each with its fraction:
    ``branch_weight(has_branch, taken, fraction)`` returns the expression.
    """
    tree = code_tree.tree
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        tests = NodeTests(language, tree, node, code_tree.columns)
        for branch, child in enumerate(tree.children(node)):
            has_branch, taken = tests.has_branch, tests.taken_by_value(branch)
            yield child, node, branch_weight(has_branch, taken, float(tree.branch_fraction[child]))
