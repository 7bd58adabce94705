"""The path of a structural search as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ceiba._typing import Array
from ceiba.base import ArrayOf, Record
from ceiba.bayes.structural.search import SearchResult
from ceiba.bayes.structural.states import Move

_COLUMNS = (
    "move",
    "n_variables",
    "n_arcs",
    "d",
    "log_likelihood",
    "bicd",
    "n_candidates",
    "n_fits",
)


@dataclass(frozen=True, eq=False, repr=False)
class SearchPath(Record):
    """Path of a structural search: one row for the empty network and for each move.

    Attributes
    ----------
    move : tuple of str
        What was added: ``"+ age"``, ``"age -- sex"`` for an arc, or both.
    n_variables, n_arcs : ndarray of int64
        Features of the network, and arcs between them.
    d : ndarray of int64
        Free parameters of p(class | features).
    log_likelihood : ndarray of float64
        Largest conditional log-likelihood.
    bicd : ndarray of float64
        log_likelihood - (log n) / 2 * d.
    n_candidates, n_fits : ndarray of int64
        Moves from the network before, and how many of them were fitted (those of the score tests,
        and not known from a step before).
    n_last_candidates, n_last_fits : int
        The same from the last network, of which no move increased the score.

    Examples
    --------
    >>> from ceiba import StructuralTMClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> StructuralTMClassifier().fit(iris.table, iris.y).path_
    move                variables  arcs  d  log-likelihood      BICd  candidates  fits
    (none)                      0     0  2        -164.792  -169.802           0     0
    + petal width (cm)          1     0  6         -21.476   -36.508           4     3
    (end)                                                                      3     3
    """

    move: tuple[str, ...]
    n_variables: Annotated[Array, ArrayOf("int64", "n")]
    n_arcs: Annotated[Array, ArrayOf("int64", "n")]
    d: Annotated[Array, ArrayOf("int64", "n")]
    log_likelihood: Annotated[Array, ArrayOf("float64", "n")]
    bicd: Annotated[Array, ArrayOf("float64", "n")]
    n_candidates: Annotated[Array, ArrayOf("int64", "n")]
    n_fits: Annotated[Array, ArrayOf("int64", "n")]
    n_last_candidates: int
    n_last_fits: int

    @classmethod
    def of(cls, result: SearchResult, names: list[str]) -> SearchPath:
        """Return the path of a search over features of the given names."""
        steps = result.steps
        columns = [
            (len(s.fit.state.features), len(s.fit.state.arcs), s.d, s.n_candidates, s.n_fits)
            for s in steps
        ]
        n_variables, n_arcs, d, n_candidates, n_fits = np.array(columns, np.int64).T.copy()
        return cls(
            tuple(_describe(step.move, names) for step in steps),
            n_variables,
            n_arcs,
            d,
            np.array([step.fit.log_likelihood for step in steps]),
            np.array([step.bicd for step in steps]),
            n_candidates,
            n_fits,
            result.n_last_candidates,
            result.n_last_fits,
        )

    def __len__(self) -> int:
        return len(self.move)

    def check(self) -> None:
        """Raise ValueError if the fields contradict each other."""
        if len(self.move) != len(self.bicd):
            raise ValueError(f"move must have {len(self.bicd)} entries, got {len(self.move)}.")

    def to_frame(self) -> Any:
        """Return the path as a pandas DataFrame, one row per network.

        Examples
        --------
        >>> from ceiba import StructuralTMClassifier, datasets
        >>> iris = datasets.load("iris")
        >>> path = StructuralTMClassifier().fit(iris.table, iris.y).path_
        >>> path.to_frame()[["move", "d"]]
                         move  d
        0              (none)  2
        1  + petal width (cm)  6
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                'to_frame requires pandas: pip install "ceiba[files]", or use the attributes.'
            ) from error
        return pd.DataFrame({name: getattr(self, name) for name in _COLUMNS})

    def __repr__(self) -> str:
        heads = ["move", "variables", "arcs", "d", "log-likelihood", "BICd", "candidates", "fits"]
        lines = [
            [name, *map(str, counts), f"{cll:.3f}", f"{bicd:.3f}", str(n_candidates), str(n_fits)]
            for name, *counts, cll, bicd, n_candidates, n_fits in zip(
                *(getattr(self, name) for name in _COLUMNS), strict=True
            )
        ]
        end = ["(end)", "", "", "", "", "", str(self.n_last_candidates), str(self.n_last_fits)]
        rows = [heads, *lines, end]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
            for row in rows
        )


def _describe(move: Move | None, names: list[str]) -> str:
    if move is None:
        return "(none)"
    parts = []
    if move.features:
        parts.append("+ " + ", ".join(names[j] for j in move.features))
    if move.arc is not None:
        parts.append(" -- ".join(names[j] for j in move.arc))
    return "; ".join(parts)
