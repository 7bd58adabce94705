"""Make the golden model files of the present format version.

Run once for each format version; the files then stay, and every later Ceiba must read them. A
file that is there already is never written again.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import ceiba
from ceiba.export import registry
from ceiba.export.model_file import VERSION

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "export"))


def numbers() -> np.ndarray[Any, Any]:
    """Three groups of ten rows: whole numbers over eight, so that every machine has the same."""
    steps = np.arange(30)
    x = 10 * (steps % 3) + (steps * 7 % 11) / 8
    y = -5 * (steps % 3) + (steps * 5 % 13) / 8
    return np.column_stack([x, y])


def table() -> list[dict[str, Any]]:
    """Twelve rows with a number, a colour, a flag and gaps."""
    colours = ["red", "blue", "green"]
    return [
        {
            "size": None if i == 5 else i % 3 + i / 16,
            "colour": None if i == 7 else colours[i % 3],
            "flag": i % 2 == 0,
        }
        for i in range(12)
    ]


def kinds() -> list[str]:
    """Classes of the table's rows: words, so that their order counts."""
    return ["high" if i % 3 == 2 else "low" if i % 4 < 2 else "mid" for i in range(12)]


def models() -> dict[str, tuple[Any, Any]]:
    """Each golden model and the rows that it is asked about."""
    from toy_model import rich_toy

    registry.ESTIMATORS["Toy"] = "toy_model"
    X = numbers()
    gaps = [[None if (i + j) % 9 == 0 else v for j, v in enumerate(row)] for i, row in
            enumerate(X.tolist())]  # fmt: skip
    single = X.astype(np.float32)
    return {
        "kmeans": (ceiba.KMeans(3, trace=True).fit(X), X),
        "kmeans-float32": (ceiba.KMeans(3, init=single[:3], tol=0).fit(single), single),
        "kmeans-table": (ceiba.KMeans(3, n_init=2).fit(table()), table()),
        "mixture": (ceiba.GaussianMixture(3, trace=True, prior="default").fit(X), X),
        "mixture-chosen": (
            ceiba.GaussianMixture("bic", covariance_type="VEI", max_components=3).fit(gaps),
            gaps,
        ),
        "mixture-batches": (
            ceiba.GaussianMixture(2, covariance_type="tied").partial_fit(X).partial_fit(X),
            X,
        ),
        "mixture-classes": (
            ceiba.GaussianMixtureClassifier({"a": 2, "b": 1}, covariance_type="diag").fit(
                X, ["a", "b", "a"] * 10
            ),
            X,
        ),
        "toy": (rich_toy(), None),
        "tree-classes": (
            ceiba.DecisionTreeClassifier(splits="multiway", missing="branch", trace=True).fit(
                table(), kinds()
            ),
            table(),
        ),
        "tree-binned": (
            ceiba.DecisionTreeClassifier(max_bins=8, class_weight={"low": 2.0}).fit(
                table(), kinds()
            ),
            table(),
        ),
        "tree-c45": (
            ceiba.DecisionTreeClassifier(algorithm="c45", min_samples_leaf=1, collapse=False).fit(
                table(), kinds()
            ),
            table(),
        ),
        "tree-surrogates": (
            ceiba.DecisionTreeClassifier(
                missing="surrogate",
                pruning="cost_complexity",
                ccp_alpha=0.03,
                cost_matrix=(1 - np.eye(len(set(kinds())))) * 2,
            ).fit(table(), kinds()),
            table(),
        ),
        "tree-intervals": (
            ceiba.DecisionTreeRegressor(
                splits="intervals", n_intervals=3, missing="fractional"
            ).fit(table(), np.arange(12) % 7 / 4),
            table(),
        ),
        "tree-numbers": (
            ceiba.DecisionTreeRegressor(max_leaf_nodes=6).fit(X, np.arange(30) % 7 / 4),
            X,
        ),
    }


def kmeans_answers(model: Any, rows: Any) -> dict[str, Any]:
    """What a later Ceiba must still say of the rows."""
    return {
        "parameters": {"n_clusters": model.n_clusters, "tol": model.tol},
        "centres": model.cluster_centers_.tolist(),
        "labels": model.predict(rows).tolist(),
        "inertia": float(model.inertia_),
    }


def mixture_answers(model: Any, rows: Any) -> dict[str, Any]:
    """What a later Ceiba must still say of the rows."""
    return {
        "parameters": {"tol": model.tol, "covariance_type": model.covariance_type},
        "predictions": model.predict(rows).tolist(),
        "probabilities": model.predict_proba(rows).tolist(),
        "densities": model.score_samples(rows).tolist(),
        "account": str(model.account_),
    }


def tree_answers(model: Any, rows: Any) -> dict[str, Any]:
    """What a later Ceiba must still say of the rows."""
    shares = model.predict_proba(rows).tolist() if hasattr(model, "classes_") else None
    return {
        "parameters": {"criterion": model.criterion, "max_leaf_nodes": model.max_leaf_nodes},
        "predictions": model.predict(rows).tolist(),
        "probabilities": shares,
        "leaves": model.apply(rows).tolist(),
        "reasons": model.tree_.reasons,
    }


ANSWERS = {"kmeans": kmeans_answers, "mixture": mixture_answers, "tree": tree_answers}


def main() -> None:
    """Write what is not there yet."""
    for name, (model, rows) in models().items():
        path = HERE / f"model-v{VERSION}-{name}.ceiba"
        if path.exists():
            print(f"{path.name} is there already")
            continue
        ceiba.save(model, path)
        if rows is not None:
            answers = ANSWERS[name.partition("-")[0]]
            expected = {
                "rows": rows if isinstance(rows, list) else rows.tolist(),
                "dtype": None if isinstance(rows, list) else str(rows.dtype),
                **answers(model, rows),
            }
            path.with_suffix(".json").write_text(json.dumps(expected) + "\n")
        print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
