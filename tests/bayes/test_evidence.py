"""Evidence of the columns for one row, and conditional distributions as data frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ceiba import NaiveBayesClassifier, TANClassifier, datasets
from ceiba.data import Table


def mixed() -> tuple[Table, Any]:
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 60)]
    shift = (y == "b") * 1.0
    rows = [
        {
            "color": None if i % 7 == 0 else "rgb"[int(rng.integers(0, 3) * (y[i] != "a"))],
            "shape": "uv"[int(rng.random() < 0.3 + 0.5 * (y[i] == "c"))],
            "size": None if i % 5 == 0 else float(rng.normal() + shift[i]),
            "n": float(rng.poisson(2 + 3 * shift[i])),
            "x": float(rng.normal() - shift[i]),
            "z": float(rng.normal() - shift[i]),
        }
        for i in range(60)
    ]
    return Table.of(rows), y


MODELS = [
    NaiveBayesClassifier(
        distributions={"size": "gaussian", "n": "poisson", "x": "kernel", "z": "mixture"}
    ),
    NaiveBayesClassifier(thresholds={name: [0.5] for name in ("size", "n", "x", "z")}),
    NaiveBayesClassifier(training="tm", missing="category"),
    TANClassifier(thresholds={name: [0.5] for name in ("size", "n", "x", "z")}),
]


@pytest.mark.parametrize("model", MODELS)
def test_contributions_add_up_to_the_log_odds(model: Any) -> None:
    X, y = mixed()
    model.fit(X, y)
    for i in range(4):
        proba = model.predict_proba(X[i : i + 1])[0]
        for c, label in enumerate("abc"):
            found = model.evidence(X[i : i + 1], label)
            wanted = np.log(proba[c]) - np.log1p(-proba[c])
            assert found.log_odds == pytest.approx(wanted, abs=1e-6)
        pair = model.evidence(X[i : i + 1], "a", "b")
        assert pair.log_odds == pytest.approx(np.log(proba[0] / proba[1]), abs=1e-6)
        assert pair.spread == 0
        best = model.evidence(X[i : i + 1])
        assert best.label == model.predict(X[i : i + 1])[0]
        assert "log-odds" in repr(best)
        assert len(best.to_pandas()) == len(best.names)


def test_missing_values_contribute_nothing() -> None:
    X, y = mixed()
    model = MODELS[0].fit(X, y)
    found = model.evidence(X[:1], "a", "b")
    for name, value, amount in zip(found.names, found.values, found.contributions, strict=True):
        if value == "missing":
            assert amount == pytest.approx(0, abs=1e-12), name
    assert list(found.values).count("missing") == 2


def test_wrong_arguments_raise() -> None:
    X, y = mixed()
    model = MODELS[0].fit(X, y)
    with pytest.raises(ValueError, match="one row, got 2"):
        model.evidence(X[:2])
    with pytest.raises(ValueError, match="label must be one of the classes"):
        model.evidence(X[:1], "d")
    with pytest.raises(ValueError, match="another class"):
        model.evidence(X[:1], "a", "a")
    predicted = model.predict(X[:1])[0]
    with pytest.raises(ValueError, match=f"another class than label, got {str(predicted)!r}"):
        model.evidence(X[:1], against=predicted)
    with pytest.raises(ValueError, match="column must be one of"):
        model.probability_table("length")


def test_classes_without_rows_have_no_evidence() -> None:
    X = [{"x": "u"}, {"x": "v"}, {"x": "u"}]
    model = NaiveBayesClassifier().partial_fit(X, ["no", "yes", "no"], classes=["c", "no", "yes"])
    with pytest.raises(
        ValueError, match="against must be a class of positive probability, got 'c'"
    ):
        model.evidence(X[:1], "yes", "c")
    with pytest.raises(ValueError, match="label must be a class of positive probability, got 'c'"):
        model.evidence(X[:1], "c")
    assert model.evidence(X[:1], "yes").against == "no"


def test_probability_tables() -> None:
    X, y = mixed()
    model = MODELS[0].fit(X, y)
    colors = model.probability_table("color")
    assert colors.sum(axis=1).to_numpy() == pytest.approx(1)
    assert list(colors.columns) == ["b", "g", "r"]
    sizes = model.probability_table("size")
    own = np.array([row for row, c in zip(X["size"], y, strict=True) if c == "b"], float)
    assert sizes.loc["b", "mean"] == pytest.approx(np.nanmean(own))
    assert sizes.loc["b", "standard_deviation"] == pytest.approx(np.nanstd(own), rel=1e-6)
    assert list(model.probability_table("n").columns) == ["rate"]
    assert (model.probability_table("x")["bandwidth"] > 0).all()
    mixture = model.probability_table("z")["weight"].groupby("class").sum()
    assert mixture.to_numpy() == pytest.approx(1)


def test_tables_of_a_tree_have_their_parents() -> None:
    vote = datasets.load("vote")
    model = TANClassifier().fit(vote.table, vote.y)
    family = next(i for i, parents in enumerate(model.model_.structure.parents) if parents)
    name = model.encoding_.names[model.model_.structure.features[family]]
    table = model.probability_table(name)
    assert table.index.names[0] == "class"
    assert len(table.index.names) == 2
    assert table.sum(axis=1).to_numpy() == pytest.approx(1)


def test_averaged_networks_have_evidence_but_no_table() -> None:
    X, y = mixed()
    thresholds = {name: [0.5] for name in ("size", "n", "x", "z")}
    model = TANClassifier(structure="aode", thresholds=thresholds).fit(X, y)
    for i in range(4):
        wanted = model.predict_log_proba(X[i : i + 1])[0]
        found = model.evidence(X[i : i + 1], "a", "c")
        assert found.log_odds == pytest.approx(wanted[0] - wanted[2], abs=1e-9)
    with pytest.raises(ValueError, match="requires one network, got structure='aode'"):
        model.probability_table("color")
