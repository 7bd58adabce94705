"""A forest as a file: its size, saving, loading, and the first predictions after loading."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks.forest import peers, quality
from benchmarks.forest.data import FAMILY, TITLE, normal_table
from benchmarks.forest.peers import N_TREES, Peer, count_nodes
from benchmarks.memory import release_free_memory
from benchmarks.tree.data import N_COLUMNS, Array, Sample, Task
from benchmarks.workload import Check, Implementation, Metrics, Workload
from benchmarks.workloads.forest.fit import N_ROWS, QUICK_N_ROWS

SAVE, LOAD, FIRST = "save", "load", "load and predict"
# Rows predicted after loading: enough to read much of a memory-mapped file.
FIRST_ROWS = 1_000
NOT_LARGER = Check("megabytes", 0.0, "at most")


class Storage(NamedTuple):
    """One way to save and load the forest of a library."""

    library: str
    save: Callable[[Any, Path], Any]
    load: Callable[[Path], Any]
    count_nodes: Callable[[Any], int] = count_nodes


@dataclass(frozen=True)
class FileData:
    """Forests and their files by library, and test rows."""

    models: Mapping[str, Any]
    files: Mapping[str, Path]
    test: Sample
    # Its finalizer deletes the files.
    folder: TemporaryDirectory[str]


class StoredForest(NamedTuple):
    """The result of a run: the file, and the forest if it was loaded."""

    storage: Storage
    path: Path
    model: Any = None


def joblib_dump(model: Any, path: Path) -> Any:
    """Save by joblib, as scikit-learn's documentation describes."""
    return import_module("joblib").dump(model, path)


def joblib_load(path: Path) -> Any:
    """Load everything into memory."""
    return import_module("joblib").load(path)


def joblib_map(path: Path) -> Any:
    """Load with memory-mapped arrays, where the trees allow it."""
    return import_module("joblib").load(path, mmap_mode="r")


def save(model: Any, path: Path) -> Any:
    """Save ours: a zip of JSON and npy."""
    return import_module("ceiba").save(model, path)


def load(path: Path) -> Any:
    """Load everything into memory."""
    return import_module("ceiba").load(path)


def load_mapped(path: Path) -> Any:
    """Load with memory-mapped arrays."""
    return import_module("ceiba").load(path, mmap=True)


def count_our_nodes(model: Any) -> int:
    """Count the nodes of all trees."""
    return len(model.forest_.nodes)


STORAGES = {
    "ceiba": Storage("ceiba", save, load_mapped, count_our_nodes),
    "ceiba in memory": Storage("ceiba", save, load, count_our_nodes),
    "scikit-learn": Storage("scikit-learn", joblib_dump, joblib_load),
    "scikit-learn mapped": Storage("scikit-learn", joblib_dump, joblib_map),
    "scikit-learn-intelex": Storage("scikit-learn-intelex", joblib_dump, joblib_load),
}
# Files do not depend on how they are loaded: one storage per library is timed for saving.
WRITERS = ("ceiba", "scikit-learn", "scikit-learn-intelex")


def peers_to_save(task: Task) -> dict[str, Peer]:
    """Return the peers whose forests are saved."""
    return {
        "ceiba": peers.ceiba(task),
        "scikit-learn": peers.sklearn(task),
        "scikit-learn-intelex": peers.intelex(task),
    }


def data_maker(task: Task) -> Callable[[int, int], dict[str, FileData]]:
    """Return a function that grows the forests and writes their files."""

    def make_data(seed: int, n_rows: int) -> dict[str, FileData]:
        sample = normal_table(task, seed, n_rows)
        available = {k: peer for k, peer in peers_to_save(task).items() if peer.is_installed()}
        models = {label: peer.fit(sample).model for label, peer in available.items()}
        folder = TemporaryDirectory()
        files = {label: Path(folder.name, label) for label in models}
        for label, path in files.items():
            STORAGES[label].save(models[label], path)
        release_free_memory()
        return dict.fromkeys((SAVE, LOAD, FIRST), FileData(models, files, sample.test, folder))

    return make_data


def runner(label: str, group: str) -> Callable[[FileData], StoredForest]:
    """Return a run that saves, loads, or loads and predicts."""
    storage = STORAGES[label]

    def run_save(data: FileData) -> StoredForest:
        path = data.files[storage.library]
        storage.save(data.models[storage.library], path)
        return StoredForest(storage, path)

    def run_load(data: FileData) -> StoredForest:
        path = data.files[storage.library]
        return StoredForest(storage, path, storage.load(path))

    def run_first(data: FileData) -> StoredForest:
        stored = run_load(data)
        stored.model.predict(data.test.X[:FIRST_ROWS])
        return stored

    return {SAVE: run_save, LOAD: run_load, FIRST: run_first}[group]


def score(task: Task) -> Callable[[StoredForest, FileData], Metrics]:
    """Return the quality function: metrics of the forest in the file, and the file's size."""

    def compute(stored: StoredForest, data: FileData) -> Metrics:
        model = stored.storage.load(stored.path) if stored.model is None else stored.model
        predictions: Array = model.predict(data.test.X)
        size = stored.path.stat().st_size
        return {
            **quality.SCORE_PREDICTIONS[task](predictions, data.test),
            "megabytes": size / 1e6,
            "bytes_per_node": size / stored.storage.count_nodes(model),
        }

    return compute


def workload(task: Task) -> Workload:
    """Return the workload of the file of a forest."""
    available = peers_to_save(task)
    return Workload(
        name=f"{FAMILY[task]}-file",
        title=f"{TITLE[task]}, {N_COLUMNS} normal columns, {N_TREES} trees of full depth as a file",
        make_data=data_maker(task),
        implementations=tuple(
            Implementation(
                label,
                runner(label, group),
                group,
                label.startswith("ceiba"),
                available[STORAGES[label].library].module,
            )
            for group in (SAVE, LOAD, FIRST)
            for label in (WRITERS if group == SAVE else STORAGES)
        ),
        quality=score(task),
        checks=(NOT_LARGER, *quality.LOOSE_CHECKS[task]),
        quick_checks=(NOT_LARGER, *quality.QUICK_CHECKS[task]),
        n_rows=N_ROWS,
        quick_n_rows=QUICK_N_ROWS,
    )


WORKLOADS = (workload("classification"), workload("regression"))
