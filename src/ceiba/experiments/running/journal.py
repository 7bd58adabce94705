"""The journal of an experiment: finished units in a file that survives a killed process.

A unit is one learner on one fold of one dataset. It is stored under a key, a hash of everything
that its result depends on, in one transaction of an SQLite database in write-ahead mode: a process
that is killed loses the units that it was computing, and no others. An experiment that is started
again takes the stored results; a changed learner or dataset has other keys, and only its units are
computed again.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ceiba._typing import Array

_FORMAT = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS units (
    key TEXT PRIMARY KEY,
    result TEXT NOT NULL,
    arrays BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    record TEXT NOT NULL
);
"""
# Errors of damaged databases and arrays.
_DAMAGES = (sqlite3.Error, zipfile.BadZipFile, zlib.error)
# Seconds that a transaction waits for those of other processes.
_TIMEOUT = 60.0


class JournalError(ValueError):
    """A file is no journal, or cannot be read or written."""


@dataclass(frozen=True, slots=True, eq=False)
class UnitResult:
    """The result of one unit.

    Parameters
    ----------
    test : ndarray of int64
        Numbers of the rows that were predicted.
    predictions : ndarray or None
        Their predicted class indices or numbers; None if the unit failed.
    probabilities : ndarray of shape (n_test, n_classes) or None
        Columns as in the classes of the dataset; None for learners without probabilities.
    fit_seconds, predict_seconds : float
    peak_memory : int or None
        Bytes that the process of the unit took at most; None if it had no process of its own.
    error : str or None
        Why the unit failed.
    chosen : dict or None
        Parameters that a search inside of the unit chose, as in `nested`.
    regions : ndarray or None
        Prediction sets, bool of shape (n_test, n_classes) with the columns of ``probabilities``, or
        intervals, float of shape (n_test, 2); None for learners without them.
    warnings : tuple of str
        Warnings of the learner.

    Examples
    --------
    >>> import numpy as np
    >>> UnitResult(np.arange(2), np.array([0, 1]), None, 0.1, 0.01).error is None
    True
    """

    test: Array
    predictions: Array | None
    probabilities: Array | None
    fit_seconds: float
    predict_seconds: float
    peak_memory: int | None = None
    error: str | None = None
    chosen: dict[str, Any] | None = None
    regions: Array | None = None
    warnings: tuple[str, ...] = ()

    def to_text(self) -> str:
        """Return what is not an array as JSON."""
        return json.dumps({
            "fit_seconds": self.fit_seconds,
            "predict_seconds": self.predict_seconds,
            "peak_memory": self.peak_memory,
            "error": self.error,
            "chosen": self.chosen,
            "warnings": list(self.warnings),
        })  # fmt: skip

    def to_bytes(self) -> bytes:
        """Return the arrays as an uncompressed npz file."""
        arrays: dict[str, Any] = {"test": self.test}
        for name in ("predictions", "probabilities", "regions"):
            if getattr(self, name) is not None:
                arrays[name] = getattr(self, name)
        file = BytesIO()
        np.savez(file, **arrays)
        return file.getvalue()

    @classmethod
    def read(cls, text: str, content: bytes) -> UnitResult:
        """Return the result that `to_text` and `to_bytes` wrote."""
        with np.load(BytesIO(content), allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in arrays.files}
        # Journals of earlier versions have no regions and no warnings.
        predictions, probabilities, regions = (
            found.get(name) for name in ("predictions", "probabilities", "regions")
        )
        values = json.loads(text)
        values["warnings"] = tuple(values.get("warnings", ()))
        return cls(found["test"], predictions, probabilities, **values, regions=regions)


class Journal:
    """Results of units by key, in memory or in a file that several processes may share.

    Parameters
    ----------
    path : path-like, optional
        An SQLite database, which is made if it does not exist; by default in memory.

    Examples
    --------
    >>> import numpy as np
    >>> with Journal() as journal:
    ...     journal.add("a", UnitResult(np.arange(2), np.array([0, 1]), None, 0.1, 0.01))
    ...     journal.find(["a", "b"])["a"].predictions.tolist()
    [0, 1]
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = None if path is None else Path(path)
        # Units run on threads; one connection serves them in turn.
        self._lock = threading.Lock()
        try:
            if self.path is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                ":memory:" if self.path is None else self.path,
                timeout=_TIMEOUT,
                check_same_thread=False,
                isolation_level=None,
            )
            self._prepare()
        except (OSError, sqlite3.Error) as error:
            raise JournalError(f"{self._name} cannot be opened as a journal: {error}.") from error

    @property
    def _name(self) -> str:
        return "The journal" if self.path is None else str(self.path)

    def _prepare(self) -> None:
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        has_tables = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if version not in (0, _FORMAT) or (version == 0 and has_tables):
            self._connection.close()
            raise JournalError(
                f"{self._name} is a database of another kind or version: choose another path."
            )
        if self.path is not None:
            self._connection.execute("PRAGMA journal_mode = WAL")
            # A killed process loses nothing; a power failure may lose the last units.
            self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.executescript(_TABLES)
        self._connection.execute(f"PRAGMA user_version = {_FORMAT}")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._lock:
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    yield self._connection
                except BaseException:
                    self._connection.execute("ROLLBACK")
                    raise
                self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise JournalError(f"{self._name} cannot be written: {error}.") from error

    def add(self, key: str, result: UnitResult) -> None:
        """Store the result of a unit; one that is stored already stays."""
        with self._transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO units VALUES (?, ?, ?)",
                (key, result.to_text(), result.to_bytes()),
            )

    def find(self, keys: Iterable[str]) -> dict[str, UnitResult]:
        """Return the stored results of some units; failed ones are left out."""
        found: dict[str, UnitResult] = {}
        for key in keys:
            try:
                with self._lock:
                    row = self._connection.execute(
                        "SELECT result, arrays FROM units WHERE key = ?", (key,)
                    ).fetchone()
                if row is None:
                    continue
                result = UnitResult.read(*row)
            except (ValueError, KeyError, TypeError, OSError, EOFError, *_DAMAGES) as error:
                raise JournalError(
                    f"{self._name} is damaged at unit {key}: {error}. Choose another path."
                ) from error
            if result.error is None:
                found[key] = result
        return found

    def discard(self, keys: Iterable[str]) -> None:
        """Remove units, such as failed ones that are computed again."""
        with self._transaction() as connection:
            connection.executemany("DELETE FROM units WHERE key = ?", [(key,) for key in keys])

    def add_run(self, record: dict[str, Any]) -> None:
        """Store what describes a run: versions, machine, time."""
        with self._transaction() as connection:
            connection.execute("INSERT INTO runs (record) VALUES (?)", (json.dumps(record),))

    def runs(self) -> list[dict[str, Any]]:
        """Return the records of all runs, in order."""
        with self._lock:
            rows = self._connection.execute("SELECT record FROM runs ORDER BY number").fetchall()
        return [json.loads(text) for (text,) in rows]

    def __len__(self) -> int:
        with self._lock:
            (number,) = self._connection.execute("SELECT count(*) FROM units").fetchone()
        return int(number)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
