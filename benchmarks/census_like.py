"""A table like the census's of who earns much: nominal, ordinal and numeric columns with gaps.

``python -m benchmarks.census_like FILE --rows 100000 --seed 0`` writes it as CSV or Parquet. Nobody
in it exists. The world (what a job is worth, where people come from) is always the same one; a seed
is a sample of its people.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tree_data import Array, Sample, categories, with_gaps

TARGET = "earns_much"
# Levels of the nominal columns, in the order of the table.
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
_WORLD = 1994
# Added to the score so that about one person in eight earns much.
_ALL_ALIKE = -6.9

Columns = dict[str, Array]


def people(seed: int, rows: int) -> Sample:
    """A pandas frame of 12 ordered and 14 nominal columns, each with 5 % gaps; two classes.

    Examples
    --------
    >>> from benchmarks.census_like import people
    >>> people(0, 100).X.shape
    (100, 26)
    """
    random = np.random.default_rng([seed, rows])
    known = nominal(random, rows)
    known |= ordered(known, random)
    y = random.random(rows) < 1 / (1 + np.exp(-score(known)))
    frame = {name: column(name, values, random) for name, values in known.items()}
    return Sample(import_module("pandas").DataFrame(frame), y.astype(np.int64))


# People ------------------------------------------------------------------------------------------


def nominal(random: np.random.Generator, rows: int) -> Columns:
    """Codes of the nominal columns; a few levels are common, many rare, and some columns akin."""
    found = {
        name: random.choice(levels, size=rows, p=shares(levels)) for name, levels in NOMINAL.items()
    }
    # A state lies in a region; most people work in the industry that their occupation belongs to.
    found["region"] = np.minimum(found["state"] // 10, NOMINAL["region"] - 1)
    at_home = random.random(rows) < 0.7
    usual = found["occupation"] % NOMINAL["industry"]
    found["industry"] = np.where(at_home, usual, found["industry"])
    return found


def shares(levels: int) -> Array:
    """How common levels are: like one over their rank, but less steep."""
    weights = np.arange(1, levels + 1) ** -0.8
    found: Array = weights / weights.sum()
    return found


def ordered(known: Columns, random: np.random.Generator) -> Columns:
    """The twelve columns with an order: nine numbers, three ordinal ones."""
    rows = len(known["sex"])
    age = random.triangular(16, 34, 91, rows).round()
    taste = worth("occupation", 3.0)[known["occupation"]]
    education = whole("education", 8 + taste + 2.5 * random.standard_normal(rows))
    weeks = np.where(age < 67, 52 * random.beta(4, 0.6, rows), 52 * random.beta(0.4, 2, rows))
    hours = np.clip(40 + 9 * random.standard_normal(rows), 0, 99)
    rate = np.exp(2.3 + 0.06 * education + 0.4 * random.standard_normal(rows))
    return {
        "age": age,
        "weeks_worked": weeks.round(),
        "hours_a_week": hours.round(),
        "hourly_wage": rate.round(2),
        "capital_gain": rarely(0.08, 7.5, random, rows),
        "capital_loss": rarely(0.03, 7.0, random, rows),
        "dividends": rarely(0.15, 6.0, random, rows),
        "children": random.poisson(np.clip((age - 20) / 20, 0, 1.2)).astype(np.float64),
        "years_at_address": random.exponential(age / 5).round(),
        "education": education,
        "health": whole("health", 3 - (age - 50) / 40 + random.standard_normal(rows)),
        "employer_size": whole("employer_size", 2.5 + 1.5 * random.standard_normal(rows)),
    }


def whole(name: str, values: Array) -> Array:
    """Codes of an ordinal column."""
    return np.clip(values.round(), 0, ORDINAL[name] - 1).astype(np.int64)


def rarely(share: float, size: float, random: np.random.Generator, rows: int) -> Array:
    """Nothing for most people, a log-normal sum for the others."""
    sums = np.exp(size + random.standard_normal(rows)).round()
    found: Array = np.where(random.random(rows) < share, sums, 0.0)
    return found


def worth(name: str, spread: float) -> Array:
    """What the levels of a column are worth in this world."""
    world = np.random.default_rng([_WORLD, list(NOMINAL).index(name)])
    return spread * world.standard_normal(NOMINAL[name])


# Who earns much ----------------------------------------------------------------------------------


def score(known: Columns) -> Array:
    """Log odds: columns by themselves, then what they do to each other."""
    alone = sum(
        worth(name, spread)[known[name]]
        for name, spread in (("occupation", 0.7), ("employer", 0.4), ("state", 0.3))
    )
    prime = np.exp(-(((known["age"] - 48) / 15) ** 2))
    pay = np.log1p(known["hourly_wage"] * known["hours_a_week"] * known["weeks_worked"]) / 4
    wealth = (np.log1p(known["capital_gain"]) + np.log1p(known["dividends"])) / 6
    found: Array = _ALL_ALIKE + alone + together(known, prime) + 1.5 * prime + pay + wealth
    return found


def together(known: Columns, prime: Array) -> Array:
    """Where one column decides what another means."""
    married = np.isin(known["marital_status"], (0, 3))
    # Schooling pays in some industries only, and for people in their prime.
    pays = worth("industry", 0.15)[known["industry"]] + 0.15
    schooling = (known["education"] - 8) * (pays + 0.12 * prime)
    head = np.where(known["household_role"] < 2, 1.2 * married, -0.5 * married)
    large = np.where(known["union"] == 1, 0.3, -0.1) * (known["employer_size"] - 2)
    found: Array = schooling + head + large + np.where(known["sex"] == 0, 0.6, -0.2) * married
    return found


# The table ---------------------------------------------------------------------------------------


def column(name: str, values: Array, random: np.random.Generator) -> Any:
    """As pandas holds it: categories, ordered ones for ordinal columns, or floats; with gaps."""
    if name in NOMINAL:
        return categories(with_gaps(values, -1, random), NOMINAL[name])
    if name in ORDINAL:
        return ranks(with_gaps(values, -1, random), ORDINAL[name])
    return with_gaps(values, np.nan, random)


def ranks(codes: Array, levels: int) -> Any:
    """An ordered pandas categorical whose names sort as the levels do; the code -1 is a gap."""
    names = [f"rank {level:02d}" for level in range(levels)]
    return import_module("pandas").Categorical.from_codes(codes, categories=names, ordered=True)


def write(path: Path, seed: int, rows: int) -> None:
    """The table with its target as a file, CSV or Parquet by its ending."""
    sample = people(seed, rows)
    frame = sample.X.assign(**{TARGET: sample.y})
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file and tell what it is."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.census_like", description=__doc__)
    parser.add_argument("file", type=Path, help="ends with .csv or .parquet")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    if asked.file.suffix not in (".csv", ".parquet"):
        parser.error(f"{asked.file.name} ends neither with .csv nor with .parquet")
    write(asked.file, asked.seed, asked.rows)
    print(f"{asked.rows:,} people in {asked.file}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
