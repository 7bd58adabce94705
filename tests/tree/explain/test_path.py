"""The path of an explained row: conditions that its values satisfy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor
from ceiba.data.table import Table
from ceiba.tree.explain.shap_mixin import path_conditions

STEPS = np.array([0.0, 1, 5, 6, 7])[:, None]


def path(model: Any, **values: Any) -> list[str]:
    """Return the conditions of a row of these values."""
    found: list[str] = model.explain(pd.DataFrame({name: [v] for name, v in values.items()})).path
    return found


@pytest.mark.parametrize("missing", ["learned", "branch", "majority"])
def test_a_missing_value_satisfies_or_missing(missing: str) -> None:
    model = DecisionTreeClassifier(missing=missing).fit(STEPS, list("aabbb"))
    assert model.explain([[0.5]]).path == ["x0 <= 3"]
    assert model.explain([[9.0]]).path == ["x0 > 3"]
    # No training row lacks the value: the row goes to the heavier branch.
    assert model.explain([[np.nan]]).path == ["x0 > 3 or missing"]


def test_known_values_beside_missing_ones_of_training() -> None:
    rows = np.append(STEPS, [[np.nan], [np.nan]], axis=0)
    model = DecisionTreeClassifier().fit(rows, list("aabbbaa"))
    assert model.explain([[0.5]]).path == ["x0 <= 3"]
    assert model.explain([[np.nan]]).path == ["x0 <= 3 or missing"]
    model = DecisionTreeClassifier(missing="branch").fit(rows, list("aabbbcc"))
    assert model.explain([[np.nan]]).path == ["x0 missing"]
    known = DecisionTreeClassifier().fit(rows, list("aaaaabb"))
    assert known.explain([[0.5]]).path == ["x0 known"]
    assert known.explain([[np.nan]]).path == ["x0 missing"]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_category_that_no_branch_has_is_missing() -> None:
    frame = pd.DataFrame({"size": [1.0] * 4 + [2.0] * 4, "c": pd.Categorical(list("uvwuvwww"))})
    y = [9.0, 9, 9, 9, 1, 2, 2, 2]
    model = DecisionTreeRegressor(missing="majority").fit(frame, y)
    assert path(model, size=1.0, c="v") == ["size <= 1.5"]
    assert path(model, size=2.0, c="v") == ["size > 1.5", "c = v"]
    # The branch of missing values has the categories that no row of the node has.
    for splits in ("binary", "multiway"):
        model.set_params(splits=splits).fit(frame, y)
        assert path(model, size=2.0, c="u") == ["size > 1.5", "c in {u, w}"]
        for missing in ("new", None):
            assert path(model, size=2.0, c=missing) == ["size > 1.5", "c in {u, w} or missing"]


def test_a_surrogate_sends_a_missing_value() -> None:
    rows = np.column_stack([np.arange(8.0), np.arange(8.0) * 10])
    model = DecisionTreeClassifier(missing="surrogate", max_depth=1).fit(rows, list("aaaabbbb"))
    for row, expected in (
        ([1.0, 70.0], "x0 <= 3.5"),
        ([np.nan, 10.0], "x0 <= 3.5 or missing"),
        ([np.nan, 70.0], "x0 > 3.5 or missing"),
    ):
        assert path_conditions(model.tree_, Table.of([row], model.schema_)) == [expected]


def test_a_fractional_row_of_several_leaves_has_no_path() -> None:
    """The leaves of x0 <= 0.5 and of x1 <= 0.5 predict the same, so their mean equals both."""
    rows = [[0, 0], [0, 1], [0, 1], [0, 1], [1, 0], [1, 0], [1, 1], [1, 1], [1, 1], [1, 1]]
    model = DecisionTreeClassifier(missing="fractional").fit(
        np.array(rows, float), list("aaaaaabbbb")
    )
    assert model.explain([[1.0, 0.0]]).path == ["x0 > 0.5", "x1 <= 0.5"]
    missing = [[np.nan, 0.0]]
    assert model.predict_proba(missing).tolist() == [[1.0, 0.0]]
    assert model.explain(missing).path == []
    # A value that the path does not test may be missing.
    assert model.explain([[0.0, np.nan]]).path == ["x0 <= 0.5"]


def test_rows_satisfy_their_conditions() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.normal(size=80), "c": pd.Categorical(rng.choice(list("uvw"), 80))}
    )
    y = frame["a"].to_numpy() + (frame["c"] == "u").to_numpy()
    frame.loc[rng.random(80) < 0.2, "a"] = np.nan
    frame.loc[rng.random(80) < 0.2, "c"] = None
    model = DecisionTreeRegressor(max_depth=4).fit(frame, y)
    for i in range(20):
        known = frame.iloc[i].notna()
        for text in model.explain(frame.iloc[[i]]).path:
            name = text.split()[0]
            assert text.endswith("missing") != known[name]
