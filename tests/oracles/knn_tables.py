"""Tables of mixed columns with missing values, as rows of the naive learners and as frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from tests.oracles.knn_naive import Row

KINDS = ("numeric", "nominal", "ordinal")
ORDER = ("low", "middle", "high")
CLASSES = ("a", "b", "c")
# Ties and duplicates; numbers without ties; a constant column.
_STYLES = ("grid", "normal", "constant")


@dataclass
class KnnTable:
    """Training rows with a class and a number each, and queries."""

    kinds: list[str]
    rows: list[Row]
    queries: list[Row]
    labels: list[str]
    numbers: list[float]

    @property
    def X(self) -> pd.DataFrame:
        """The training rows as a frame."""
        return self.frame(self.rows)

    @property
    def Q(self) -> pd.DataFrame:
        """The queries as a frame."""
        return self.frame(self.queries)

    @property
    def complete(self) -> bool:
        """Whether no value is missing."""
        return not any(value is None for row in self.rows + self.queries for value in row)

    def frame(self, rows: Sequence[Row]) -> pd.DataFrame:
        """Return rows as a frame, with the categories of the training rows."""
        columns: dict[str, Any] = {}
        for j, kind in enumerate(self.kinds):
            values = [row[j] for row in rows]
            if kind == "numeric":
                columns[f"x{j}"] = np.array(
                    [np.nan if value is None else value for value in values], np.float64
                )
            elif kind == "ordinal":
                codes = [-1 if value is None else int(value) for value in values]
                columns[f"x{j}"] = pd.Categorical.from_codes(codes, ORDER, ordered=True)
            else:
                known = sorted({row[j] for row in self.rows} - {None})
                columns[f"x{j}"] = pd.Categorical(values, known)
        return pd.DataFrame(columns)


def make_table(
    seed: int,
    kinds: Sequence[str],
    n: int,
    n_queries: int = 3,
    missing: float = 0.0,
    styles: Sequence[str] = _STYLES,
) -> KnnTable:
    """Make a table; queries have only categories that training rows have."""
    rng = np.random.default_rng(seed)
    columns = [_column(rng, kind, n, n_queries, missing, styles) for kind in kinds]
    rows = [list(row) for row in zip(*columns, strict=True)]
    labels = rng.choice(CLASSES, n).tolist()
    numbers = np.round(rng.normal(size=n), 1).tolist()
    return KnnTable(list(kinds), rows[:n], rows[n:], labels, numbers)


def _column(
    rng: np.random.Generator,
    kind: str,
    n: int,
    n_queries: int,
    missing: float,
    styles: Sequence[str],
) -> list[Any]:
    values: list[Any]
    if kind == "numeric":
        style = rng.choice(list(styles))
        grid = rng.integers(-2, 3, n + n_queries).astype(float)
        values = {
            "grid": grid,
            "normal": rng.normal(size=n + n_queries),
            "constant": np.full(n + n_queries, 7.0),
        }[style].tolist()
    elif kind == "ordinal":
        values = rng.integers(0, len(ORDER), n + n_queries).astype(float).tolist()
    else:
        values = rng.choice(["p", "q", "r"], n + n_queries).tolist()
    absent = rng.random(n + n_queries) < missing
    values = [None if hidden else value for value, hidden in zip(values, absent, strict=True)]
    if kind != "numeric":
        known = sorted(set(values[:n]) - {None})
        first = known[0] if known else None
        values[n:] = [value if value in (*known, None) else first for value in values[n:]]
    return values


@st.composite
def tables(
    draw: st.DrawFn,
    kinds: Sequence[str] = KINDS,
    max_rows: int = 24,
    with_missing: bool = True,
    styles: Sequence[str] = _STYLES,
) -> KnnTable:
    """Draw a table; its cells follow from a seed, which is much faster than to draw them."""
    own = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))
    share = draw(st.sampled_from([0.0, 0.2, 0.6])) if with_missing else 0.0
    n = draw(st.integers(1, max_rows))
    return make_table(draw(st.integers(0, 2**32 - 1)), own, n, missing=share, styles=styles)
