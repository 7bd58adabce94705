"""A tree as a list of rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from ceiba._typing import Array
from ceiba.data.schema import Schema
from ceiba.data.table import Table
from ceiba.tree.explain.dictionary import class_labels
from ceiba.tree.explain.rule import Cells, Rule, RuleCondition, branch_condition, merged
from ceiba.tree.explain.rule_simplification import Dropper
from ceiba.tree.model.tree import Tree

Order = Literal["tree", "confidence", "coverage"]


@dataclass(frozen=True, eq=False)
class RuleList:
    """Rules of a tree; the first that a row meets decides.

    Parameters
    ----------
    rules : tuple of Rule
    tree : Tree
        Where they come from.
    labels : ndarray or None
        Labels of the classes; None for numbers.
    default : Rule or None
        What decides where no rule does, if conditions were dropped. None where the rules cover
        every row that the tree does not share out or send on by surrogates.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets
    >>> from ceiba.tree.explain.rule_list import rule_list
    >>> iris = datasets.load("iris")
    >>> model = DecisionTreeClassifier(max_depth=2).fit(iris.table, iris.y)
    >>> rules = rule_list(model.tree_, classes=model.classes_)
    >>> print(rules.to_text(gaps=False))
    if petal length (cm) <= 2.45 then setosa (50 rows, p = 1)
    if petal length (cm) > 2.45 and petal width (cm) <= 1.75 then versicolor (54 rows, p = 0.907)
    if petal length (cm) > 2.45 and petal width (cm) > 1.75 then virginica (46 rows, p = 0.978)
    >>> bool((rules.predict(iris.table) == model.predict(iris.table)).all())
    True
    """

    rules: tuple[Rule, ...]
    tree: Tree
    labels: Array | None = None
    default: Rule | None = None

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __getitem__(self, place: int) -> Rule:
        return self.rules[place]

    def __repr__(self) -> str:
        return f"RuleList({len(self.rules)} rules)"

    def __str__(self) -> str:
        return self.to_text()

    @property
    def schema(self) -> Schema:
        """The columns."""
        return self.tree.schema

    def to_text(self, *, gaps: bool = True, max_labels: int = 10, decimals: int = 3) -> str:
        """The rules as lines.

        Parameters
        ----------
        gaps : bool
            Whether to say which conditions a missing value meets, too.
        max_labels : int
            Most levels of a condition to list.
        decimals : int
            Digits after the point; thresholds have six digits that count if that is more.
        """
        if max_labels < 1 or decimals < 0:
            raise ValueError("max_labels must be at least 1, and decimals not negative")
        lines = [
            rule.text(gaps=gaps, max_labels=max_labels, decimals=decimals) for rule in self.rules
        ]
        if self.default is not None:
            lines.append(f"otherwise {self.default.result(decimals)}")
        return "\n".join(lines)

    def fired(self, X: Any) -> Array:
        """Number of the first rule that each row meets; -1 where it meets none.

        Parameters
        ----------
        X : array, frame, list or Table
            Rows with the columns of training; a level that training did not see is a gap.
        """
        table = Table.of(X, self.schema, who="this list of rules")
        cells = Cells(table, self.tree.columns)
        found = np.full(len(table), -1, np.int64)
        waiting = np.arange(len(table))
        for number, rule in enumerate(self.rules):
            rows = waiting
            for condition in rule.conditions:
                rows = rows[cells.meet(condition, rows)]
            found[rows] = number
            waiting = waiting[found[waiting] < 0]
        return found

    def predict(self, X: Any) -> Array:
        """What the first rule that each row meets predicts.

        Without dropped conditions this is what the tree predicts: rows that no rule covers,
        because a value is missing that the tree would share out or replace by a surrogate, are left
        to the tree.

        Parameters
        ----------
        X : array, frame, list or Table

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        table = Table.of(X, self.schema, who="this list of rules")
        fired = self.fired(table)
        rules = self.rules if self.default is None else (*self.rules, self.default)
        if self.labels is None:
            found = np.array([rule.prediction for rule in rules])[fired]
        else:
            found = self.labels[np.array([rule.class_number for rule in rules])[fired]]
        open_rows = np.flatnonzero(fired < 0)
        if self.default is None and len(open_rows):
            found[open_rows] = self._by_tree(table.take(open_rows))
        return found

    def _by_tree(self, table: Table) -> Array:
        told = self.tree.told(table)
        if self.labels is None:
            return told
        labels: Array = self.labels[self.tree.decided(told)]
        return labels


def rule_list(
    tree: Tree,
    *,
    classes: Sequence[Any] | None = None,
    order: Order | None = None,
    simplify: bool = True,
    drop: bool = False,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    confidence: float = 0.25,
) -> RuleList:
    """The tree as a list of rules, one a leaf: if some conditions hold, then a prediction.

    Parameters
    ----------
    tree : Tree
    classes : sequence, optional
        Labels of the classes (``classes_`` of the estimator); their numbers unless given.
    order : {"tree", "confidence", "coverage"}, optional
        As the leaves stand in the tree, the surest first, or those of most weight first. Unless
        given it is "tree", and with ``drop`` "confidence", which then goes by the pessimistic
        error rate.
    simplify : bool
        One condition a column: several thresholds become an interval, sets of levels what they
        have in common, and rules that no row can meet are left out. Otherwise one condition for
        each split on the way.
    drop : bool
        Drop conditions as C4.5rules does: again and again the one without which the rule's
        pessimistic error rate is least, as long as that does not raise it. An end of an interval
        counts as a condition. Equal rules become one; a rule without conditions is left out; what
        meets no rule has the class that is most frequent among such rows. Rules may then overlap,
        and rows, weights and confidence are those of all rows that a rule covers.
    X, y, sample_weight
        Training rows for ``drop``; ``y`` holds labels of ``classes``.
    confidence : float in (0, 0.5]
        Level of the bound of the error rate, for ``drop``: less drops more.

    Returns
    -------
    RuleList

    Notes
    -----
    A missing value meets a condition where it follows that branch of the tree ("or missing"). Trees
    that share rows out or have surrogates send it to no one branch: it meets no condition there, as
    in C4.5rules.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier
    >>> rows = [{"light": "red"}, {"light": "amber"}, {"light": "green"}, {"light": None}]
    >>> model = DecisionTreeClassifier().fit(rows, ["stop", "stop", "go", "stop"])
    >>> print(rule_list(model.tree_, classes=model.classes_))
    if light = green then go (1 row, p = 1)
    if light in {amber, red} or missing then stop (3 rows, p = 1)

    References
    ----------
    Quinlan (1993), "C4.5: programs for machine learning", chapter 5.
    """
    labels = class_labels(tree, classes)
    order = order or ("confidence" if drop else "tree")
    _check(tree, order, simplify, drop, X, y)
    names = (
        None if labels is None else np.asarray(range(len(labels)) if classes is None else classes)
    )
    rules = [
        _rule(tree, leaf, conditions, labels)
        for leaf, conditions in _ways(tree, simplify)
        if not simplify or all(condition.possible for condition in conditions)
    ]
    default = None
    if drop:
        assert labels is not None
        assert names is not None
        dropper = Dropper.of(tree, labels, names, X, y, sample_weight, confidence)
        rules, default = dropper.dropped(rules)
    return RuleList(tuple(_sorted(rules, order)), tree, names, default)


def _ways(tree: Tree, simplify: bool) -> Iterator[tuple[int, tuple[RuleCondition, ...]]]:
    """Each leaf and what leads there, first branches first."""
    waiting: list[tuple[int, tuple[RuleCondition, ...]]] = [(0, ())]
    while waiting:
        node, conditions = waiting.pop()
        if tree.is_leaf[node]:
            yield node, conditions
            continue
        split = tree.split(node)
        column = tree.schema[split.column]
        # Elsewhere a gap has no one branch.
        settled = tree.missing == "branch" or (
            tree.missing == "surrogate" and not tree.surrogates_of(node)
        )
        branches = []
        for branch, child in enumerate(tree.children(node)):
            new = branch_condition(split, branch, column, settled and branch == split.gaps)
            longer = (*conditions, new)
            branches.append((child, merged(longer) if simplify else longer))
        waiting += reversed(branches)


def _rule(
    tree: Tree, leaf: int, conditions: tuple[RuleCondition, ...], labels: list[Any] | None
) -> Rule:
    rows, weight = int(tree.n_rows[leaf]), float(tree.weight[leaf])
    if labels is None:
        number = tree.values_of(np.array([leaf]))[0].item()
        return Rule(conditions, number, rows, weight, node=leaf)
    place = int(tree.child[leaf])
    code = int(tree.likeliest[place])
    return Rule(
        conditions,
        labels[code],
        rows,
        weight,
        tuple(tree.value[leaf].tolist()),
        float(tree.leaves[place, code]),
        code,
        leaf,
    )


def _sorted(rules: list[Rule], order: Order) -> list[Rule]:
    if order == "coverage":
        return sorted(rules, key=lambda rule: -rule.weight)
    if order == "confidence":
        return sorted(rules, key=_doubt)
    return rules


def _doubt(rule: Rule) -> tuple[float, float]:
    assert rule.confidence is not None
    error = 1 - rule.confidence if rule.estimate is None else rule.estimate
    return error, -rule.weight


def _check(tree: Tree, order: Any, simplify: bool, drop: bool, X: Any, y: Any) -> None:
    if order not in get_args(Order):
        raise ValueError(f"order={order!r}: give 'tree', 'confidence' or 'coverage'")
    numbers = not tree.leaves.shape[1]
    if numbers and order == "confidence":
        raise ValueError("this tree predicts numbers, which have no confidence: order by coverage")
    if not drop:
        if X is not None or y is not None:
            raise ValueError(
                "X and y are looked at with drop=True alone: set it, or leave them out"
            )
        return
    if numbers:
        raise ValueError("conditions are dropped by errors of classes: this tree predicts numbers")
    if not simplify:
        raise ValueError("drop=True drops merged conditions: leave simplify at True")
    if X is None or y is None:
        raise ValueError("drop=True needs the training rows: give X and y")
