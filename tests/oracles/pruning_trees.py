"""Small trees as dictionaries, made up rather than grown: any shape, any class weights."""

from __future__ import annotations

from hypothesis import strategies as st


def leaf(counts):
    return {"value": list(counts), "children": []}


def joint(children):
    value = [sum(each) for each in zip(*(c["value"] for c in children), strict=True)]
    return {"value": value, "children": list(children)}


def numbered(root):
    """Numbers and weights for all nodes, branches of a node beside each other."""
    waiting, number = [(root, 0)], 1
    root["node"] = 0
    for node, depth in waiting:
        node |= {"weight": sum(node["value"]), "n_rows": sum(node["value"]), "depth": depth}
        node["test"] = {"kind": "made up"} if node["children"] else None
        for child in node["children"]:
            child["node"] = number
            number += 1
            waiting.append((child, depth + 1))
    return root


def made_up(classes=3, most=4, size=8):
    """A strategy for trees whose leaves have few rows, so that ties are common."""
    counts = st.lists(st.integers(0, most), min_size=classes, max_size=classes)
    ends = counts.map(leaf)
    grown = st.recursive(
        ends,
        lambda below: st.lists(below, min_size=2, max_size=3).map(joint),
        max_leaves=size,
    )
    return grown.filter(lambda root: sum(root["value"]) > 0).map(fresh).map(numbered)


def fresh(node):
    """A copy: parts of a drawn tree may be one object."""
    return {"value": node["value"], "children": [fresh(child) for child in node["children"]]}


def chain(*counts):
    """A node whose last branch is the next node: class weights of the leaves from the top."""
    *first, last = counts
    node = leaf(last)
    for own in reversed(first):
        node = joint([leaf(own), node])
    return numbered(node)
