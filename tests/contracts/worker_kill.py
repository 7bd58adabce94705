"""A fit on Dask during which a worker is killed, for the contract test and the soak test."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import ceiba
from ceiba.export import save

# Learners of several passes over the rows.
MODELS: dict[str, Any] = {
    "KMeans": ceiba.KMeans(3, max_iter=4, tol=0.0),
    "NaiveBayesClassifier": ceiba.NaiveBayesClassifier(),
    "TANClassifier": ceiba.TANClassifier(discretization="equal_frequency"),
    "TANClassifier tm": ceiba.TANClassifier(training="tm"),
    "StructuralTMClassifier": ceiba.StructuralTMClassifier(),
    "LatentClassMixture": ceiba.LatentClassMixture(2, n_init=1, max_iter=4, tol=0.0),
}

PARTITIONS, ROWS, COLUMNS = 4, 300, 3


def load(index: int, diary: Path) -> np.ndarray[Any, Any]:
    """Return the rows of one partition; note in ``diary`` the process that loads them."""
    note = diary / f"{uuid4().hex}.part"
    note.write_text(str(os.getpid()))
    note.rename(note.with_suffix(".note"))
    time.sleep(0.02)  # long enough to be killed in
    return np.random.default_rng(index).normal(size=(ROWS, COLUMNS))


def collection(diary: Path) -> Any:
    import dask.array as da
    from dask import delayed

    shape = ROWS, COLUMNS
    blocks = [delayed(load)(index, diary) for index in range(PARTITIONS)]
    return da.concatenate([da.from_delayed(block, shape, float) for block in blocks])


def notes(diary: Path) -> list[Path]:
    return list(diary.glob("*.note"))


class Killer(threading.Thread):
    """Kills the process that wrote the latest of ``after`` notes; knows how many there were."""

    def __init__(self, diary: Path, after: int) -> None:
        super().__init__(daemon=True)
        self.diary, self.after = diary, after
        self.victim: int | None = None
        self.loads = 0

    def run(self) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            found = notes(self.diary)
            if len(found) >= self.after:
                latest = max(found, key=lambda note: note.stat().st_mtime_ns)
                self.victim, self.loads = int(latest.read_text()), len(found)
                os.kill(self.victim, signal.SIGKILL)
                return
            time.sleep(0.002)


def fit(client: Any, model: Any, diary: Path) -> bytes:
    """Fit a model and return its file."""
    diary.mkdir()
    X = collection(diary)
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    with client.as_current(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = clone(model).set_params(n_jobs=1).fit(X, y)
    save(fitted, diary / "model")
    return (diary / "model").read_bytes()


def check_killed_fit(client: Any, name: str, folder: Path, share: float) -> None:
    """A fit whose worker is killed after a share of its loads ends as an undisturbed one does."""
    client.wait_for_workers(2, timeout=60)
    calm = fit(client, MODELS[name], folder / "calm")
    total = len(notes(folder / "calm"))
    killer = Killer(folder / "killed", after=max(1, int(share * total)))
    killer.start()
    disturbed = fit(client, MODELS[name], folder / "killed")
    killer.join(60)
    assert killer.victim is not None
    assert killer.loads < len(notes(folder / "killed")), "the kill came after the fit"
    assert killer.victim not in client.run(os.getpid).values()
    assert disturbed == calm
