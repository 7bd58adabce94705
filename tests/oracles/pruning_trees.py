"""Small trees as dictionaries, drawn rather than grown: any shape, any class weights."""

from __future__ import annotations

from hypothesis import strategies as st


def leaf(counts):
    return {"value": list(counts), "children": []}


def join(children):
    value = [sum(each) for each in zip(*(c["value"] for c in children), strict=True)]
    return {"value": value, "children": list(children)}


def number_nodes(root):
    """Set index, weight and depth of all nodes; siblings have consecutive indices."""
    queue, index = [(root, 0)], 1
    root["node"] = 0
    for node, depth in queue:
        node |= {"weight": sum(node["value"]), "n_rows": sum(node["value"]), "depth": depth}
        node["test"] = {"kind": "none"} if node["children"] else None
        for child in node["children"]:
            child["node"] = index
            index += 1
            queue.append((child, depth + 1))
    return root


def random_trees(classes=3, max_count=4, size=8):
    """Return a strategy of trees whose leaves have few rows, so that ties are common."""
    counts = st.lists(st.integers(0, max_count), min_size=classes, max_size=classes)
    ends = counts.map(leaf)
    grown = st.recursive(
        ends,
        lambda below: st.lists(below, min_size=2, max_size=3).map(join),
        max_leaves=size,
    )
    return grown.filter(lambda root: sum(root["value"]) > 0).map(copy_tree).map(number_nodes)


def copy_tree(node):
    """Copy a tree: subtrees of a drawn tree may be one object."""
    return {"value": node["value"], "children": [copy_tree(child) for child in node["children"]]}


def chain(*counts):
    """Return a tree of depth one per leaf, with these class weights from the top."""
    *first, last = counts
    node = leaf(last)
    for own in reversed(first):
        node = join([leaf(own), node])
    return number_nodes(node)
