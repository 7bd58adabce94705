from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks import census_like


@pytest.fixture(scope="module")
def people():
    return census_like.people(0, 20_000)


def log_odds(y):
    share = y.mean()
    return np.log(share / (1 - share))


def test_columns_are_of_three_kinds(people):
    kinds = people.X.select_dtypes("category")
    ordered = [name for name, column in kinds.items() if column.cat.ordered]
    assert ordered == list(census_like.ORDINAL)
    assert people.X.shape[1] - kinds.shape[1] == 9, "numbers"
    levels = {name: len(column.cat.categories) for name, column in kinds.items()}
    assert levels == census_like.NOMINAL | census_like.ORDINAL
    assert kinds.nunique().to_dict() == levels, "every level occurs"
    assert len(census_like.NOMINAL) == 14
    assert (min(census_like.NOMINAL.values()), max(census_like.NOMINAL.values())) == (2, 50)


def test_gaps(people):
    assert people.X.isna().mean().between(0.04, 0.06).all()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_few_earn_much(seed):
    assert 0.1 < census_like.people(seed, 5_000).y.mean() < 0.15


def test_ranks_sort_as_they_mean(people):
    for name in census_like.ORDINAL:
        names = list(people.X[name].cat.categories)
        assert names == sorted(names), "encoders sort by the alphabet"


def test_a_seed_is_a_sample_of_one_world():
    first, again, other = (census_like.people(seed, 10_000) for seed in (3, 3, 4))
    assert first.X.equals(again.X)
    np.testing.assert_array_equal(first.y, again.y)
    assert not first.X.equals(other.X)
    worth = [
        pd.Series(each.y).groupby(each.X["occupation"], observed=True).mean()
        for each in (first, other)
    ]
    assert np.corrcoef(*worth)[0, 1] > 0.8


def test_columns_decide_together(people):
    """Being married means one thing to the head of a household and the opposite to others."""
    married = people.X["marital_status"].isin(["level 0", "level 3"])
    head = people.X["household_role"].isin(["level 0", "level 1"])
    effect = {
        who: log_odds(people.y[married & of]) - log_odds(people.y[~married & of])
        for who, of in (("head", head), ("others", ~head))
    }
    assert effect["head"] > 0.5
    assert effect["others"] < 0.1


def test_akin_columns(people):
    table = pd.crosstab(people.X["state"], people.X["region"])
    assert (table.to_numpy() > 0).sum() == 50, "a state lies in one region"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_file(ending, tmp_path, capsys):
    path = tmp_path / f"people.{ending}"
    assert census_like.main([str(path), "--rows", "200", "--seed", "5"]) == 0
    assert "200 people" in capsys.readouterr().out
    frame = pd.read_csv(path) if ending == "csv" else pd.read_parquet(path)
    sample = census_like.people(5, 200)
    np.testing.assert_array_equal(frame.pop(census_like.TARGET), sample.y)
    assert list(frame) == list(sample.X)
    np.testing.assert_array_equal(frame["age"], sample.X["age"])
    np.testing.assert_array_equal(frame.isna(), sample.X.isna())


def test_other_endings_are_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        census_like.main([str(tmp_path / "people.xlsx")])
    assert ".parquet" in capsys.readouterr().err
