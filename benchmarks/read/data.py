"""Tables written as CSV and Parquet files, with their true values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Format = Literal["csv", "parquet"]
MakeColumns = Callable[[int, int], dict[str, Array]]

MISSING_FRACTION = 0.05
N_INTEGERS = 5
# Number of categories of the text columns of a mixed table.
N_CATEGORIES = (2, 3, 5, 8, 12, 20, 50, 100, 300, 1_000)


@dataclass(frozen=True)
class FileData:
    """A file, and its columns: float64 with NaN, or str with None for missing values."""

    path: Path
    columns: dict[str, Array]
    # Its finalizer deletes the file.
    folder: TemporaryDirectory[str]

    @property
    def text_columns(self) -> list[str]:
        """Names of the text columns."""
        return [name for name, values in self.columns.items() if values.dtype == object]


def numeric_columns(seed: int, n_rows: int) -> dict[str, Array]:
    """Make 15 columns of floats with all their digits, and 5 of integers."""
    rng = np.random.default_rng(seed)
    floats = {f"float_{j}": rng.standard_normal(n_rows) for j in range(15)}
    return floats | draw_integers(rng, n_rows)


def mixed_columns(seed: int, n_rows: int) -> dict[str, Array]:
    """Make 5 columns of floats, 5 of integers and 10 of text, each with 5 % missing values."""
    rng = np.random.default_rng(seed)
    columns = {f"float_{j}": rng.standard_normal(n_rows).round(4) for j in range(5)}
    columns |= draw_integers(rng, n_rows)
    columns |= {f"text_{n}": draw_texts(n, rng, n_rows) for n in N_CATEGORIES}
    for values in columns.values():
        missing = rng.random(n_rows) < MISSING_FRACTION
        values[missing] = None if values.dtype == object else np.nan
    return columns


def draw_integers(rng: np.random.Generator, n_rows: int) -> dict[str, Array]:
    """Draw integers, as float64, of 1 to 5 digits."""
    return {
        f"integer_{digits}": rng.integers(10**digits, size=n_rows).astype(np.float64)
        for digits in range(1, N_INTEGERS + 1)
    }


def draw_texts(n_categories: int, rng: np.random.Generator, n_rows: int) -> Array:
    """Draw one of several texts; every tenth contains a comma and has to be quoted."""
    names = [
        f"item {code}, large" if code % 10 == 9 else f"item {code}" for code in range(n_categories)
    ]
    return np.array(names, dtype=object)[rng.integers(n_categories, size=n_rows)]


def data_maker(
    make_columns: MakeColumns, suffix: Format, groups: tuple[str, ...]
) -> Callable[[int, int], dict[str, FileData]]:
    """Return a function that writes the file, which all groups read."""

    def make_data(seed: int, n_rows: int) -> dict[str, FileData]:
        columns = make_columns(seed, n_rows)
        folder = TemporaryDirectory()
        path = Path(folder.name, f"table.{suffix}")
        write(columns, path)
        return dict.fromkeys(groups, FileData(path, columns, folder))

    return make_data


def write(columns: dict[str, Array], path: Path) -> None:
    """Write the columns by pandas, integers without a decimal point."""
    pandas = import_module("pandas")
    frame = pandas.DataFrame(columns)
    integers = {name: "Int64" for name in columns if name.startswith("integer")}
    frame = frame.astype(integers)
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False)
