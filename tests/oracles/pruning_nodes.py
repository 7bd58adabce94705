"""Trees as nested dictionaries, as `Tree.to_dict` writes them: cutting them and sending rows down.

A node is the dictionary of the tree's own record; nothing here changes one that it was given.
Numbers are fractions wherever the tree's are exact, so that a tie is a tie.
"""

from __future__ import annotations

from fractions import Fraction

from ceiba.data.table import Table

# How dictionaries spell infinite thresholds.
ENDS = ("inf", "-inf")

# Walking and cutting


def walk(node):
    """A node and all below it, each before its branches."""
    yield node
    for child in node["children"]:
        yield from walk(child)


def upwards(node):
    """A node and all below it, each after its branches."""
    for child in node["children"]:
        yield from upwards(child)
    yield node


def inner(node):
    """Numbers of the nodes that are split."""
    return {n["node"] for n in walk(node) if n["children"]}


def leaves(node):
    return [n for n in walk(node) if not n["children"]]


def cut(node, numbers):
    """A copy in which the nodes of these numbers are leaves."""
    children = [] if node["node"] in numbers else [cut(c, numbers) for c in node["children"]]
    return {**node, "children": children}


def topmost(root, numbers):
    """Those of the nodes that stand below no other of them, ascending."""
    kept = {node["node"] for node in walk(cut(root, numbers))}
    return sorted(kept & set(numbers))


def shape(node):
    """What a tree is, whatever the numbers of its nodes."""
    test = node["test"] if node["children"] else None
    seen = (node["n_rows"], node["weight"], node["value"], node["depth"])
    return test, seen, [shape(child) for child in node["children"]]


def same_order(old, new):
    """Pairs of numbers of the nodes that two trees share, by the first of each pair."""
    pairs = [(old["node"], new["node"])]
    if new["children"]:
        for one, other in zip(old["children"], new["children"], strict=True):
            pairs += same_order(one, other)
    return sorted(pairs)


# Labels and costs


def plain_costs(n):
    """One for every class but the right one."""
    return [[Fraction(int(i != j)) for j in range(n)] for i in range(n)]


def exact_costs(costs, n):
    """A cost matrix in fractions; that of errors where there is none."""
    return plain_costs(n) if costs is None else [[Fraction(c) for c in row] for row in costs]


def losses(weights, costs):
    """The cost of predicting each class for rows of these class weights."""
    columns = zip(*costs, strict=True)
    return [sum(Fraction(w) * c for w, c in zip(weights, each, strict=True)) for each in columns]


def label(weights, costs):
    """The class that costs least; of equals the first."""
    each = losses(weights, costs)
    return each.index(min(each))


def labels(root, costs):
    """The class of every node as a leaf; without weight that of the node above."""
    found = {}

    def visit(node, above):
        own = label(node["value"], costs) if node["weight"] else above
        found[node["node"]] = own
        for child in node["children"]:
            visit(child, own)

    visit(root, 0)
    return found


# Rows


def rows_of(X, schema=None):
    """Rows of plain values, labels for levels and None for gaps."""
    table = Table.of(X, schema)
    columns = []
    for j, column in enumerate(table.schema):
        values, gaps = table.column(j).tolist(), table.gaps(j)
        if column.levels:
            values = [column.levels[v] if v >= 0 else None for v in values]
        elif gaps is not None:
            values = [None if gap else v for v, gap in zip(values, gaps, strict=True)]
        columns.append(values)
    return list(zip(*columns, strict=True))


def branch(test, row, columns):
    """The branch that a row takes by its value; None where that is a gap, or as good as one."""
    value = row[test["column"]]
    if value is None:
        return None
    kind = test["kind"]
    if kind == "known":
        return 0
    if kind in ("levels", "multiway"):
        places = [b for b, group in enumerate(test["branches"]) if value in group]
        return places[0] if places else None
    above = above_in(columns[test["column"]])
    if kind == "intervals":
        return sum(above(value, t) for t in test["thresholds"])
    return int(above(value, test["threshold"]))


def above_in(column):
    """How a column tells whether a value lies above a threshold: levels by their order."""
    levels = column["levels"]
    if levels:
        return lambda value, cut: levels.index(value) > levels.index(cut)
    return lambda value, cut: value > (float(cut) if cut in ENDS else cut)


def stand_in(node, row, columns):
    """The branch that the first surrogate with a value says; None where there is none."""
    for surrogate in node.get("surrogates", ()):
        kind = "levels" if surrogate["branches"] else "threshold"
        b = branch({**surrogate, "kind": kind}, row, columns)
        if b is not None:
            return b ^ surrogate["flipped"]
    return None


def shares(node):
    """How a gap is shared among the branches where it is shared."""
    weights = [Fraction(child["weight"]) for child in node["children"]]
    total = sum(weights)
    return [w / total for w in weights]


def pieces(root, row, columns, shared):
    """Leaves that a row comes to, each with the share of the row that does."""
    return [(path[-1], part) for path, part in paths(root, row, columns, shared)]


def paths(root, row, columns, shared):
    """Ways of a row down the tree, as lists of nodes, each with the share of the row on it."""
    if not root["children"]:
        return [([root], Fraction(1))]
    found = []
    for b, part in parts(root, row, columns, shared):
        for way, rest in paths(root["children"][b], row, columns, shared):
            found.append(([root, *way], part * rest))
    return found


def parts(node, row, columns, shared):
    """Branches that a row takes, with its share in each."""
    b = branch(node["test"], row, columns)
    if b is None:
        b = stand_in(node, row, columns)
    if b is not None:
        return [(b, Fraction(1))]
    if not shared:
        return [(node["test"]["gaps"], Fraction(1))]
    return [(b, share) for b, share in enumerate(shares(node)) if share]


def held(root, rows, targets, weights, columns, shared=False, classes=None):
    """Sums of rows that come through each node: class weights, or weight, w y and w y y."""
    found = {node["node"]: [Fraction(0)] * (classes or 3) for node in walk(root)}
    for row, y, w in zip(rows, targets, weights, strict=True):
        for way, part in paths(root, row, columns, shared):
            for node in way:
                add(found[node["node"]], y, Fraction(w) * part, classes)
    return [found[number] for number in sorted(found)]


def add(sums, y, weight, classes):
    if classes:
        sums[y] += weight
        return
    y = Fraction(y)
    for k, power in enumerate((Fraction(1), y, y * y)):
        sums[k] += weight * power
