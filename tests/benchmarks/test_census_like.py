from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.forest import census_like


@pytest.fixture(scope="module")
def people():
    return census_like.make_people(0, 20_000)


def log_odds(y):
    fraction = y.mean()
    return np.log(fraction / (1 - fraction))


def test_columns_are_nominal_ordinal_and_numeric(people):
    categorical = people.X.select_dtypes("category")
    ordered = [name for name, column in categorical.items() if column.cat.ordered]
    assert ordered == list(census_like.ORDINAL)
    assert people.X.shape[1] - categorical.shape[1] == 9, "numeric"
    n_categories = {name: len(column.cat.categories) for name, column in categorical.items()}
    assert n_categories == census_like.NOMINAL | census_like.ORDINAL
    assert categorical.nunique().to_dict() == n_categories, "every category occurs"
    assert len(census_like.NOMINAL) == 14
    assert (min(census_like.NOMINAL.values()), max(census_like.NOMINAL.values())) == (2, 50)


def test_five_percent_are_missing(people):
    assert people.X.isna().mean().between(0.04, 0.06).all()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_one_row_in_eight_is_positive(seed):
    assert 0.1 < census_like.make_people(seed, 5_000).y.mean() < 0.15


def test_ordinal_names_sort_in_their_order(people):
    for name in census_like.ORDINAL:
        names = list(people.X[name].cat.categories)
        assert names == sorted(names), "encoders sort alphabetically"


def test_seeds_sample_one_distribution():
    first, again, other = (census_like.make_people(seed, 10_000) for seed in (3, 3, 4))
    assert first.X.equals(again.X)
    np.testing.assert_array_equal(first.y, again.y)
    assert not first.X.equals(other.X)
    means = [
        pd.Series(each.y).groupby(each.X["occupation"], observed=True).mean()
        for each in (first, other)
    ]
    assert np.corrcoef(*means)[0, 1] > 0.8


def test_columns_interact(people):
    """The effect of marriage depends on the role in the household."""
    married = people.X["marital_status"].isin(["category 0", "category 3"])
    head = people.X["household_role"].isin(["category 0", "category 1"])
    of_heads, of_others = (
        log_odds(people.y[married & rows]) - log_odds(people.y[~married & rows])
        for rows in (head, ~head)
    )
    assert of_heads > 0.5
    assert of_others < 0.1


def test_a_state_determines_its_region(people):
    table = pd.crosstab(people.X["state"], people.X["region"])
    assert (table.to_numpy() > 0).sum() == 50


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_file_has_the_table_and_its_target(suffix, tmp_path, capsys):
    path = tmp_path / f"people.{suffix}"
    assert census_like.main([str(path), "--rows", "200", "--seed", "5"]) == 0
    assert "200 rows" in capsys.readouterr().out
    frame = pd.read_csv(path) if suffix == "csv" else pd.read_parquet(path)
    sample = census_like.make_people(5, 200)
    np.testing.assert_array_equal(frame.pop(census_like.TARGET), sample.y)
    assert list(frame) == list(sample.X)
    np.testing.assert_array_equal(frame["age"], sample.X["age"])
    np.testing.assert_array_equal(frame.isna(), sample.X.isna())


def test_unknown_suffix_is_rejected(tmp_path, capsys):
    with pytest.raises(SystemExit):
        census_like.main([str(tmp_path / "people.xlsx")])
    assert "suffix .csv or .parquet" in capsys.readouterr().err
