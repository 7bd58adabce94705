"""Synthetic census-like table: nominal, ordinal and numeric columns with missing values.

``python -m benchmarks.forest.census_like FILE --rows 100000 --seed 0`` writes it as CSV or Parquet.
The target is a high income. The distribution is fixed (effects of occupations, states and so on); a
seed gives another sample of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tree.data import Array, Sample, categorical, with_missing

TARGET = "high_income"
# Number of categories of the nominal columns, in the order of the table.
NOMINAL = {
    "sex": 2,
    "citizen": 3,
    "veteran": 3,
    "union": 3,
    "region": 5,
    "ancestry": 6,
    "tax_status": 6,
    "marital_status": 7,
    "employer": 9,
    "household_role": 12,
    "industry": 24,
    "birth_country": 36,
    "occupation": 44,
    "state": 50,
}
ORDINAL = {"education": 16, "health": 5, "employer_size": 6}
_DISTRIBUTION_SEED = 1994
# Gives about one positive row in eight.
_INTERCEPT = -6.9

Columns = dict[str, Array]


def make_people(seed: int, n_rows: int) -> Sample:
    """Make a pandas frame of 12 ordered and 14 nominal columns, 5 % missing; two classes.

    Examples
    --------
    >>> from benchmarks.forest.census_like import make_people
    >>> make_people(0, 100).X.shape
    (100, 26)
    """
    rng = np.random.default_rng([seed, n_rows])
    columns = draw_nominal(rng, n_rows)
    columns |= draw_ordered(columns, rng)
    y = rng.random(n_rows) < 1 / (1 + np.exp(-log_odds(columns)))
    frame = {name: to_pandas(name, values, rng) for name, values in columns.items()}
    return Sample(import_module("pandas").DataFrame(frame), y.astype(np.int64))


# Columns -----------------------------------------------------------------------------------------


def draw_nominal(rng: np.random.Generator, n_rows: int) -> Columns:
    """Draw the codes of the nominal columns: skewed frequencies, some columns dependent."""
    columns = {
        name: rng.choice(n_categories, size=n_rows, p=frequencies(n_categories))
        for name, n_categories in NOMINAL.items()
    }
    # A state determines its region, and an occupation the industry of 70 % of its rows.
    columns["region"] = np.minimum(columns["state"] // 10, NOMINAL["region"] - 1)
    is_usual = rng.random(n_rows) < 0.7
    usual = columns["occupation"] % NOMINAL["industry"]
    columns["industry"] = np.where(is_usual, usual, columns["industry"])
    return columns


def frequencies(n_categories: int) -> Array:
    """Return the probabilities of the categories: a power law of their rank."""
    weights = np.arange(1, n_categories + 1) ** -0.8
    probabilities: Array = weights / weights.sum()
    return probabilities


def draw_ordered(nominal: Columns, rng: np.random.Generator) -> Columns:
    """Draw the twelve columns with an order: nine numeric, three ordinal."""
    n_rows = len(nominal["sex"])
    age = rng.triangular(16, 34, 91, n_rows).round()
    schooling = effects("occupation", 3.0)[nominal["occupation"]]
    education = to_codes("education", 8 + schooling + 2.5 * rng.standard_normal(n_rows))
    weeks = np.where(age < 67, 52 * rng.beta(4, 0.6, n_rows), 52 * rng.beta(0.4, 2, n_rows))
    hours = np.clip(40 + 9 * rng.standard_normal(n_rows), 0, 99)
    wage = np.exp(2.3 + 0.06 * education + 0.4 * rng.standard_normal(n_rows))
    return {
        "age": age,
        "weeks_worked": weeks.round(),
        "hours_per_week": hours.round(),
        "hourly_wage": wage.round(2),
        "capital_gain": draw_amounts(0.08, 7.5, rng, n_rows),
        "capital_loss": draw_amounts(0.03, 7.0, rng, n_rows),
        "dividends": draw_amounts(0.15, 6.0, rng, n_rows),
        "children": rng.poisson(np.clip((age - 20) / 20, 0, 1.2)).astype(np.float64),
        "years_at_address": rng.exponential(age / 5).round(),
        "education": education,
        "health": to_codes("health", 3 - (age - 50) / 40 + rng.standard_normal(n_rows)),
        "employer_size": to_codes("employer_size", 2.5 + 1.5 * rng.standard_normal(n_rows)),
    }


def to_codes(name: str, values: Array) -> Array:
    """Round to the codes of an ordinal column."""
    return np.clip(values.round(), 0, ORDINAL[name] - 1).astype(np.int64)


def draw_amounts(fraction: float, log_mean: float, rng: np.random.Generator, n_rows: int) -> Array:
    """Draw log-normal amounts for a fraction of the rows, zero for the others."""
    amounts = np.exp(log_mean + rng.standard_normal(n_rows)).round()
    values: Array = np.where(rng.random(n_rows) < fraction, amounts, 0.0)
    return values


def effects(name: str, spread: float) -> Array:
    """Return the fixed effects of the categories of a column."""
    rng = np.random.default_rng([_DISTRIBUTION_SEED, list(NOMINAL).index(name)])
    return spread * rng.standard_normal(NOMINAL[name])


# Target ------------------------------------------------------------------------------------------


def log_odds(columns: Columns) -> Array:
    """Return the log odds of a high income: main effects and interactions."""
    nominal = sum(
        effects(name, spread)[columns[name]]
        for name, spread in (("occupation", 0.7), ("employer", 0.4), ("state", 0.3))
    )
    prime = np.exp(-(((columns["age"] - 48) / 15) ** 2))
    pay = np.log1p(columns["hourly_wage"] * columns["hours_per_week"] * columns["weeks_worked"]) / 4
    wealth = (np.log1p(columns["capital_gain"]) + np.log1p(columns["dividends"])) / 6
    total: Array = _INTERCEPT + nominal + interactions(columns, prime) + 1.5 * prime + pay + wealth
    return total


def interactions(columns: Columns, prime: Array) -> Array:
    """Return the terms of pairs of columns."""
    married = np.isin(columns["marital_status"], (0, 3))
    # Education has an effect in some industries only, and around the prime age.
    slope = effects("industry", 0.15)[columns["industry"]] + 0.15
    schooling = (columns["education"] - 8) * (slope + 0.12 * prime)
    head = np.where(columns["household_role"] < 2, 1.2 * married, -0.5 * married)
    size = np.where(columns["union"] == 1, 0.3, -0.1) * (columns["employer_size"] - 2)
    total: Array = schooling + head + size + np.where(columns["sex"] == 0, 0.6, -0.2) * married
    return total


# The table ---------------------------------------------------------------------------------------


def to_pandas(name: str, values: Array, rng: np.random.Generator) -> Any:
    """Return a pandas categorical (ordered if ordinal) or floats, with missing values."""
    if name in NOMINAL:
        return categorical(with_missing(values, -1, rng), NOMINAL[name])
    if name in ORDINAL:
        return ordered_categorical(with_missing(values, -1, rng), ORDINAL[name])
    return with_missing(values, np.nan, rng)


def ordered_categorical(codes: Array, n_categories: int) -> Any:
    """Make an ordered categorical whose names sort in its order; the code -1 is missing."""
    names = [f"rank {code:02d}" for code in range(n_categories)]
    return import_module("pandas").Categorical.from_codes(codes, categories=names, ordered=True)


def write(path: Path, seed: int, n_rows: int) -> None:
    """Write the table with its target as CSV or Parquet, by the suffix."""
    sample = make_people(seed, n_rows)
    frame = sample.X.assign(**{TARGET: sample.y})
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file and print its size."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.forest.census_like", description=__doc__
    )
    parser.add_argument("file", type=Path, help="with the suffix .csv or .parquet")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(arguments)
    if args.file.suffix not in (".csv", ".parquet"):
        parser.error(f"file must have the suffix .csv or .parquet, got {args.file.name}.")
    write(args.file, args.seed, args.rows)
    print(f"{args.rows:,} rows in {args.file}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
