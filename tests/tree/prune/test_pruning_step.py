"""``pruning_step``: the step of the cost-complexity path that ``fit`` prunes to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets
from ceiba.tree import cost_complexity_path


@pytest.mark.parametrize("learner", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_fit_prunes_to_the_step(learner: Any) -> None:
    iris = datasets.load("iris")
    y = iris.y if learner is DecisionTreeClassifier else np.arange(150.0) % 7
    grown = learner(max_depth=5).fit(iris.table, y)
    path = cost_complexity_path(grown.tree_, "impurity")
    for step in range(path.n_steps):
        model = learner(max_depth=5, pruning_step=step).fit(iris.table, y)
        expected = grown.pruned("step", step=step)
        np.testing.assert_array_equal(model.tree_.nodes, expected.tree_.nodes)
        assert model.get_n_leaves() == path.n_leaves[step]
        assert model.pruning_.details["step"] == step
        assert model.grown_tree_.n_nodes == grown.tree_.n_nodes
    with pytest.raises(ValueError, match=rf"pruning step must be an int in \[0, {step}\]"):
        learner(max_depth=5, pruning_step=step + 1).fit(iris.table, y)


def test_errors_count_with_their_risk() -> None:
    iris = datasets.load("iris")
    options = {"prune_risk": "error", "min_samples_split": 10}
    model = DecisionTreeClassifier(pruning_step=1, **options).fit(iris.table, iris.y)
    expected = DecisionTreeClassifier(**options).fit(iris.table, iris.y)
    expected = expected.pruned("step", step=1, risk="error")
    np.testing.assert_array_equal(model.tree_.nodes, expected.tree_.nodes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pruning": "none"}, "'pruning_step' has no effect with pruning='none'"),
        ({"algorithm": "c45", "pruning": "pessimistic"}, "no effect with pruning='pessimistic'"),
        ({"ccp_alpha": 0.1}, "ccp_alpha and pruning_step both select"),
    ],
)
def test_options_that_do_not_apply_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DecisionTreeClassifier(pruning_step=1, **options).fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match="pruning_step"):
        DecisionTreeClassifier(pruning_step=-1).fit([[0], [1]], [0, 1])


def test_rows_outside_of_memory_are_pruned_to_a_step(tmp_path: Any) -> None:
    from ceiba import scan

    iris = datasets.load("iris")
    frame = iris.table.to_pandas().assign(target=iris.y)
    frame.to_csv(tmp_path / "iris.csv", index=False)
    model = DecisionTreeClassifier(pruning_step=2, max_bins=64)
    from_file = model.fit(scan(tmp_path / "iris.csv", target="target")).get_n_leaves()
    assert from_file == model.fit(iris.table, iris.y).get_n_leaves() < 9
