"""Operations on trees as nested dictionaries, as `Tree.to_dict` returns them.

No function changes its arguments. Numbers are exact fractions where those of the tree are exact, so
that ties are exact.
"""

from __future__ import annotations

from fractions import Fraction

from ceiba.data.table import Table

# Infinite thresholds in a dictionary.
INFINITE = ("inf", "-inf")

# Traversal and pruning


def preorder(node):
    """Yield a node and its descendants, each before its children."""
    yield node
    for child in node["children"]:
        yield from preorder(child)


def postorder(node):
    """Yield a node and its descendants, each after its children."""
    for child in node["children"]:
        yield from postorder(child)
    yield node


def inner(node):
    """Return the indices of inner nodes."""
    return {n["node"] for n in preorder(node) if n["children"]}


def leaves(node):
    return [n for n in preorder(node) if not n["children"]]


def make_leaves(node, indices):
    """Return a copy in which some nodes are leaves."""
    children = (
        [] if node["node"] in indices else [make_leaves(c, indices) for c in node["children"]]
    )
    return {**node, "children": children}


def topmost(root, indices):
    """Return the nodes that are below no other of them, ascending."""
    kept = {node["node"] for node in preorder(make_leaves(root, indices))}
    return sorted(kept & set(indices))


def shape(node):
    """Return a tree without the indices of its nodes."""
    test = node["test"] if node["children"] else None
    facts = (node["n_rows"], node["weight"], node["value"], node["depth"])
    return test, facts, [shape(child) for child in node["children"]]


def same_order(old, new):
    """Return pairs of indices of the nodes that two trees share, sorted."""
    pairs = [(old["node"], new["node"])]
    if new["children"]:
        for one, other in zip(old["children"], new["children"], strict=True):
            pairs += same_order(one, other)
    return sorted(pairs)


# Labels and costs


def unit_costs(n):
    """Return a cost of 1 for every error."""
    return [[Fraction(int(i != j)) for j in range(n)] for i in range(n)]


def exact_costs(costs, n):
    """Return a cost matrix in fractions; unit costs for None."""
    return unit_costs(n) if costs is None else [[Fraction(c) for c in row] for row in costs]


def losses(weights, costs):
    """Return the cost of predicting each class for rows of these class weights."""
    columns = zip(*costs, strict=True)
    return [sum(Fraction(w) * c for w, c in zip(weights, each, strict=True)) for each in columns]


def label(weights, costs):
    """Return the class of minimum cost; ties go to the first."""
    each = losses(weights, costs)
    return each.index(min(each))


def labels(root, costs):
    """Return the class of every node as a leaf; empty nodes take that of their parent."""
    found = {}

    def visit(node, parent_label):
        node_label = label(node["value"], costs) if node["weight"] else parent_label
        found[node["node"]] = node_label
        for child in node["children"]:
            visit(child, node_label)

    visit(root, 0)
    return found


# Rows


def plain_rows(X, schema=None):
    """Return rows of plain values: labels for categories, None for missing values."""
    table = Table.of(X, schema)
    columns = []
    for j, column in enumerate(table.schema):
        values, missing = table.column(j).tolist(), table.missing_mask(j)
        if column.categories:
            values = [column.categories[v] if v >= 0 else None for v in values]
        elif missing is not None:
            values = [None if gone else v for v, gone in zip(values, missing, strict=True)]
        columns.append(values)
    return list(zip(*columns, strict=True))


def branch(test, row, columns):
    """Return the branch of a row; None for a missing value or an unseen category."""
    value = row[test["column"]]
    if value is None:
        return None
    kind = test["kind"]
    if kind == "known":
        return 0
    if kind in ("categories", "multiway"):
        branches = [b for b, group in enumerate(test["branches"]) if value in group]
        return branches[0] if branches else None
    above = comparison(columns[test["column"]])
    if kind == "intervals":
        return sum(above(value, t) for t in test["thresholds"])
    return int(above(value, test["threshold"]))


def comparison(column):
    """Return a function that compares a value with a threshold; categories by their order."""
    categories = column["categories"]
    if categories:
        return lambda value, t: categories.index(value) > categories.index(t)
    return lambda value, t: value > (float(t) if t in INFINITE else t)


def surrogate_branch(node, row, columns):
    """Return the branch of the first surrogate with a known value, or None."""
    for surrogate in node.get("surrogates", ()):
        kind = "categories" if surrogate["branches"] else "threshold"
        b = branch({**surrogate, "kind": kind}, row, columns)
        if b is not None:
            return b ^ surrogate["flipped"]
    return None


def fractions(node):
    """Return the fraction of a missing value that each branch gets."""
    weights = [Fraction(child["weight"]) for child in node["children"]]
    total = sum(weights)
    return [w / total for w in weights]


def leaf_fractions(root, row, columns, fractional):
    """Return the leaves that a row reaches, each with the fraction of the row."""
    return [(path[-1], part) for path, part in paths(root, row, columns, fractional)]


def paths(root, row, columns, fractional):
    """Return the paths of a row, as lists of nodes, each with the fraction of the row."""
    if not root["children"]:
        return [([root], Fraction(1))]
    found = []
    for b, part in branch_fractions(root, row, columns, fractional):
        for path, rest in paths(root["children"][b], row, columns, fractional):
            found.append(([root, *path], part * rest))
    return found


def branch_fractions(node, row, columns, fractional):
    """Return the branches of a row, with its fraction in each."""
    b = branch(node["test"], row, columns)
    if b is None:
        b = surrogate_branch(node, row, columns)
    if b is not None:
        return [(b, Fraction(1))]
    if not fractional:
        return [(node["test"]["missing_branch"], Fraction(1))]
    return [(b, part) for b, part in enumerate(fractions(node)) if part]


def node_sums(root, rows, targets, weights, columns, fractional=False, classes=None):
    """Sum class weights, or (w, w y, w y y), of the rows that reach each node."""
    found = {node["node"]: [Fraction(0)] * (classes or 3) for node in preorder(root)}
    for row, y, w in zip(rows, targets, weights, strict=True):
        for path, part in paths(root, row, columns, fractional):
            for node in path:
                add(found[node["node"]], y, Fraction(w) * part, classes)
    return [found[node] for node in sorted(found)]


def add(sums, y, weight, classes):
    if classes:
        sums[y] += weight
        return
    y = Fraction(y)
    for k, power in enumerate((Fraction(1), y, y * y)):
        sums[k] += weight * power
