"""A forest as a file: its size, saving it, loading it, and the first answers after that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks import forest_judge, forest_peers
from benchmarks.forest_data import FAMILY, TITLE, normal
from benchmarks.forest_peers import TREES, Peer, nodes_of_trees
from benchmarks.memory import give_back
from benchmarks.tree_data import COLUMNS, Array, Sample, Task
from benchmarks.workload import Check, Contestant, Numbers, Workload
from benchmarks.workloads.forest import QUICK_ROWS, ROWS

SAVE, LOAD, FIRST = "save", "load", "load and ask"
# Rows asked after loading: enough to walk through much of what was only mapped.
FIRST_ROWS = 1_000
SMALL = Check("megabytes", 0.0, "no more")


class Way(NamedTuple):
    """One way of keeping a forest: whose it is, how it is written and read."""

    whose: str
    save: Callable[[Any, Path], Any]
    load: Callable[[Path], Any]
    nodes: Callable[[Any], int] = nodes_of_trees


@dataclass(frozen=True)
class Shelf:
    """Everyone's forest and its file, and rows that nobody has seen."""

    models: Mapping[str, Any]
    files: Mapping[str, Path]
    new: Sample
    # Its end is the end of the files.
    folder: TemporaryDirectory[str]


class Kept(NamedTuple):
    """What a run leaves: the file, and the forest in it, once read."""

    way: Way
    path: Path
    model: Any = None


def dump(model: Any, path: Path) -> Any:
    """As scikit-learn's documents recommend it, or did."""
    return import_module("joblib").dump(model, path)


def joblib_load(path: Path) -> Any:
    """All of it into memory."""
    return import_module("joblib").load(path)


def joblib_map(path: Path) -> Any:
    """Arrays left on disk, where the trees allow it."""
    return import_module("joblib").load(path, mmap_mode="r")


def save(model: Any, path: Path) -> Any:
    """Ours: a zip of JSON and npy."""
    return import_module("ceiba").save(model, path)


def load(path: Path) -> Any:
    """All of it into memory."""
    return import_module("ceiba").load(path)


def load_map(path: Path) -> Any:
    """Arrays left on disk."""
    return import_module("ceiba").load(path, mmap=True)


def our_nodes(model: Any) -> int:
    """Nodes of all trees."""
    return len(model.forest_.nodes)


WAYS = {
    "ceiba": Way("ceiba", save, load_map, our_nodes),
    "ceiba read": Way("ceiba", save, load, our_nodes),
    "scikit-learn": Way("scikit-learn", dump, joblib_load),
    "scikit-learn mapped": Way("scikit-learn", dump, joblib_map),
    "scikit-learn-intelex": Way("scikit-learn-intelex", dump, joblib_load),
}
# The way of the same name writes a library's files: they are the same, read later or mapped.
WRITERS = ("ceiba", "scikit-learn", "scikit-learn-intelex")


def owners(task: Task) -> dict[str, Peer]:
    """Whose forests are kept."""
    return {
        "ceiba": forest_peers.ceiba(task),
        "scikit-learn": forest_peers.sklearn(task),
        "scikit-learn-intelex": forest_peers.intelex(task),
    }


def shelves(task: Task) -> Callable[[int, int], dict[str, Shelf]]:
    """Data of a workload: forests are grown and, for those who read, written here."""

    def data(seed: int, rows: int) -> dict[str, Shelf]:
        sample = normal(task, seed, rows)
        known = {label: peer for label, peer in owners(task).items() if peer.installed()}
        models = {label: peer.fit(sample).model for label, peer in known.items()}
        folder = TemporaryDirectory()
        files = {label: Path(folder.name, label) for label in models}
        for label, path in files.items():
            WAYS[label].save(models[label], path)
        give_back()
        return dict.fromkeys((SAVE, LOAD, FIRST), Shelf(models, files, sample.new, folder))

    return data


def run(label: str, group: str) -> Callable[[Shelf], Kept]:
    """Write it, read it, or read it and ask."""
    way = WAYS[label]

    def write(shelf: Shelf) -> Kept:
        way.save(shelf.models[way.whose], shelf.files[way.whose])
        return Kept(way, shelf.files[way.whose])

    def read(shelf: Shelf) -> Kept:
        path = shelf.files[way.whose]
        return Kept(way, path, way.load(path))

    def read_and_ask(shelf: Shelf) -> Kept:
        found = read(shelf)
        found.model.predict(shelf.new.X[:FIRST_ROWS])
        return found

    return {SAVE: write, LOAD: read, FIRST: read_and_ask}[group]


def quality(task: Task) -> Callable[[Kept, Shelf], Numbers]:
    """How good the forest in the file is, and how large the file."""

    def judge(kept: Kept, shelf: Shelf) -> Numbers:
        model = kept.way.load(kept.path) if kept.model is None else kept.model
        answers: Array = model.predict(shelf.new.X)
        size = kept.path.stat().st_size
        return {
            **forest_judge.ANSWERED[task](answers, shelf.new),
            "megabytes": size / 1e6,
            "bytes_a_node": size / kept.way.nodes(model),
        }

    return judge


def keeping(task: Task) -> Workload:
    """A file of a forest."""
    needs = {label: owners(task)[way.whose].needs for label, way in WAYS.items()}
    return Workload(
        name=f"{FAMILY[task]}-file",
        title=f"{TITLE[task]}, {COLUMNS} normal columns, {TREES} trees of full depth as a file",
        data=shelves(task),
        contestants=tuple(
            Contestant(label, run(label, group), group, label.startswith("ceiba"), needs[label])
            for group in (SAVE, LOAD, FIRST)
            for label in (WRITERS if group == SAVE else WAYS)
        ),
        quality=quality(task),
        checks=(SMALL, *forest_judge.LOOSE_CHECKS[task]),
        quick_checks=(SMALL, *forest_judge.QUICK_CHECKS[task]),
        rows=ROWS,
        quick_rows=QUICK_ROWS,
    )


WORKLOADS = (keeping("classes"), keeping("numbers"))
