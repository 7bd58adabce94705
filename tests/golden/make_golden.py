"""Make the golden model files of the current format version.

Run once per format version; later versions of Ceiba must read the files. An existing file is never
overwritten.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import ceiba
from ceiba import ESTIMATORS
from ceiba.export.model_file import VERSION

HERE = Path(__file__).parent


def numbers() -> np.ndarray[Any, Any]:
    """Three groups of ten rows: multiples of 1/8, which every machine represents exactly."""
    steps = np.arange(30)
    x = 10 * (steps % 3) + (steps * 7 % 11) / 8
    y = -5 * (steps % 3) + (steps * 5 % 13) / 8
    return np.column_stack([x, y])


def table() -> list[dict[str, Any]]:
    """Twelve rows with a number, a color, a flag and missing values."""
    colors = ["red", "blue", "green"]
    return [
        {
            "size": None if i == 5 else i % 3 + i / 16,
            "color": None if i == 7 else colors[i % 3],
            "flag": i % 2 == 0,
        }
        for i in range(12)
    ]


def kinds() -> list[str]:
    """Classes of the table's rows: words, so that their order matters."""
    return ["high" if i % 3 == 2 else "low" if i % 4 < 2 else "mid" for i in range(12)]


def sevens() -> np.ndarray[Any, Any]:
    """Targets of the numbers: seven multiples of 1/4, repeated."""
    return np.arange(30) % 7 / 4


def models() -> dict[str, tuple[Any, Any]]:
    """Each golden model and the rows that it predicts."""
    from tests.export.toy_model import rich_toy

    ESTIMATORS["Toy"] = "tests.export.toy_model"
    X = numbers()
    incomplete = [[None if (i + j) % 9 == 0 else v for j, v in enumerate(row)] for i, row in
            enumerate(X.tolist())]  # fmt: skip
    single = X.astype(np.float32)
    return {
        "kmeans": (ceiba.KMeans(3, trace=True).fit(X), X),
        "kmeans-float32": (ceiba.KMeans(3, init=single[:3], tol=0).fit(single), single),
        "kmeans-table": (ceiba.KMeans(3, n_init=2).fit(table()), table()),
        "mixture": (ceiba.GaussianMixture(3, trace=True, prior="default").fit(X), X),
        "mixture-chosen": (
            ceiba.GaussianMixture("bic", covariance_type="VEI", max_components=3).fit(incomplete),
            incomplete,
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
        **trees(),
        **forests(),
        **ensembles(),
        **gradient_boosting(),
        **networks(),
        **neighbors(),
    }


def trees() -> dict[str, tuple[Any, Any]]:
    """Trees of mixed rows and of numbers."""
    return {
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
            ceiba.DecisionTreeRegressor(max_leaf_nodes=6).fit(numbers(), sevens()),
            numbers(),
        ),
        "tree-outputs": (
            ceiba.DecisionTreeRegressor(max_leaf_nodes=6).fit(
                numbers(), np.column_stack([sevens(), numbers()[:, 0] / 3])
            ),
            numbers(),
        ),
    }


def forests() -> dict[str, tuple[Any, Any]]:
    """Forests with leaves and records of every kind."""
    many = [f"kind {i % 35}" for i in range(70)]
    wide = np.column_stack([np.arange(70) * 13 % 71 / 8, np.arange(70) * 29 % 37 / 4])
    forest_of_classes = partial(ceiba.RandomForestClassifier, max_bins=None)
    forest_of_numbers = partial(ceiba.RandomForestRegressor, max_bins=None)
    # More rows than "auto" has exact thresholds for.
    steps = np.arange(20_001)
    long = np.column_stack([steps * 7919 % 20_011 / 8, steps * 104_729 % 10_007 / 4])
    return {
        "forest-classes": (
            forest_of_classes(20, missing="branch", oob_score=True, importance=True).fit(
                table(), kinds()
            ),
            table(),
        ),
        # Class weights that are not integers; then more classes than one node can store.
        "forest-weights": (
            forest_of_classes(
                4, class_weight="balanced_subsample", leaf_probability="laplace", max_depth=2
            ).fit(table(), kinds()),
            table(),
        ),
        "forest-many-classes": (forest_of_classes(3, max_depth=3).fit(wide, many), wide[::6]),
        "forest-numbers": (
            forest_of_numbers(
                20, max_leaf_nodes=6, oob_score=True, importance=True, quantiles=True
            ).fit(numbers(), sevens()),
            numbers(),
        ),
        "forest-default": (
            ceiba.RandomForestClassifier(3, max_depth=4).fit(long, long[:, 0] * 3 > long[:, 1]),
            long[::1_000],
        ),
        "forest-extra-classes": (
            ceiba.ExtraTreesClassifier(4, max_bins=None).fit(table(), kinds()),
            table(),
        ),
        "forest-extra-numbers": (
            ceiba.ExtraTreesRegressor(4, max_bins=None, max_depth=3).fit(numbers(), sevens()),
            numbers(),
        ),
        "forest-binned": (
            forest_of_numbers(4, max_bins=5, missing="majority", max_features_per="tree").fit(
                table(), sevens()[:12]
            ),
            table(),
        ),
        "forest-outputs": (
            forest_of_numbers(20, oob_score=True, max_depth=2).fit(
                numbers(), np.column_stack([sevens(), numbers()[:, 0] / 3])
            ),
            numbers(),
        ),
    }


def ensembles() -> dict[str, tuple[Any, Any]]:
    """Bagged and boosted members: few, because each is a model of its own."""
    shallow, regressor = (
        ceiba.DecisionTreeClassifier(max_depth=2),
        ceiba.DecisionTreeRegressor(max_depth=2),
    )
    few = {"max_samples": 0.15, "oob_score": True}
    return {
        # Two votes tie, and the tie is broken by a draw.
        "bag-classes": (
            ceiba.BaggingClassifier(shallow, 2, voting="majority", max_features=2).fit(
                table(), kinds()
            ),
            table(),
        ),
        "bag-numbers": (
            ceiba.BaggingRegressor(regressor, 2, bootstrap_features=True, **few).fit(
                numbers(), sevens()
            ),
            numbers(),
        ),
        "boost-classes": (
            ceiba.AdaBoostClassifier(n_estimators=3, trace=True).fit(table(), kinds()),
            table(),
        ),
        "boost-real": (
            ceiba.AdaBoostClassifier(n_estimators=2, algorithm="samme.r").fit(table(), kinds()),
            table(),
        ),
        "boost-numbers": (
            ceiba.AdaBoostRegressor(n_estimators=3, max_depth=2).fit(numbers(), sevens()),
            numbers(),
        ),
    }


def gradient_boosting() -> dict[str, tuple[Any, Any]]:
    """Gradient boosting of two and three classes, and of numbers."""
    small = {"n_estimators": 3, "min_samples_leaf": 2, "max_leaf_nodes": 4}
    classifier, regressor = ceiba.GradientBoostingClassifier, ceiba.GradientBoostingRegressor
    return {
        "gradient-classes": (classifier(**small).fit(table(), kinds()), table()),
        "gradient-two-classes": (
            classifier(trace=True, **small).fit(table(), [kind == "low" for kind in kinds()]),
            table(),
        ),
        "gradient-numbers": (
            regressor(loss="poisson", method="gradient", **small).fit(numbers(), sevens()),
            numbers(),
        ),
    }


def networks() -> dict[str, tuple[Any, Any]]:
    """Network classifiers with categories, densities and structures of every kind."""
    width = {"discretization": "equal_width", "n_bins": 3}
    return {
        "network-naive": (ceiba.NaiveBayesClassifier(**width).fit(table(), kinds()), table()),
        "network-densities": (
            ceiba.NaiveBayesClassifier(distributions={0: "gaussian", 1: "kernel"}).fit(
                numbers(), ["a", "b", "a"] * 10
            ),
            numbers(),
        ),
        "network-tan": (ceiba.TANClassifier(**width).fit(table(), kinds()), table()),
        "network-trained": (
            ceiba.TANClassifier(training="tm", missing="category", trace=True, **width).fit(
                table(), kinds()
            ),
            table(),
        ),
        "network-kdb": (
            ceiba.TANClassifier(structure="kdb", missing="category", **width).fit(table(), kinds()),
            table(),
        ),
        "network-aode": (
            ceiba.TANClassifier(structure="aode", **width).fit(table(), kinds()),
            table(),
        ),
        "network-searched": (
            ceiba.StructuralTMClassifier(**width).fit(numbers(), ["a", "b", "c"] * 10),
            numbers(),
        ),
        "latent-arcs": (
            ceiba.LatentClassMixture(2, structure="tree", trace=True, n_init=2, n_bins=3).fit(
                table()
            ),
            table(),
        ),
        "latent-chosen": (
            ceiba.LatentClassMixture("bic", max_components=4, n_bins=3).fit(numbers()),
            numbers(),
        ),
        "discretizer": (ceiba.Discretizer("kmeans", n_bins=3).fit(table()), table()),
    }


def neighbors() -> dict[str, tuple[Any, Any]]:
    """Nearest neighbors of every index: brute force, trees, products, segments."""
    rng = np.random.default_rng(0)
    many = rng.normal(size=(300, 3)).round(3)
    labels = (many[:, 0] > 0).astype(int)
    queries = many[:20] + 0.25

    def fitted(algorithm: str, **options: Any) -> Any:
        model = ceiba.KNeighborsClassifier(3, algorithm=algorithm, **options)
        return model.fit(many[:250], labels[:250])

    return {
        "neighbors-table": (
            ceiba.KNeighborsClassifier("loo", metric="gower", weights="distance").fit(
                table(), kinds()
            ),
            table(),
        ),
        "neighbors-boxes": (fitted("kd_tree", scale="std"), queries),
        "neighbors-products": (fitted("products"), queries),
        "neighbors-vantage": (fitted("vp_tree", metric="canberra"), queries),
        "neighbors-segments": (
            fitted("kd_tree").partial_fit(many[250:], labels[250:]).forget([0, 5, 260]),
            queries,
        ),
        "neighbors-numbers": (
            ceiba.KNeighborsRegressor(4, weights="distance", metric="mahalanobis").fit(
                many, many @ [1.0, 2.0, 3.0]
            ),
            queries,
        ),
    }


def kmeans_results(model: Any, rows: Any) -> dict[str, Any]:
    """Results that later versions must reproduce."""
    return {
        "parameters": {"n_clusters": model.n_clusters, "tol": model.tol},
        "centers": model.cluster_centers_.tolist(),
        "labels": model.predict(rows).tolist(),
        "inertia": float(model.inertia_),
    }


def mixture_results(model: Any, rows: Any) -> dict[str, Any]:
    """Results that later versions must reproduce."""
    return {
        "parameters": {"tol": model.tol, "covariance_type": model.covariance_type},
        "predictions": model.predict(rows).tolist(),
        "probabilities": model.predict_proba(rows).tolist(),
        "densities": model.score_samples(rows).tolist(),
        "fit_events": str(model.fit_events_),
    }


def tree_results(model: Any, rows: Any) -> dict[str, Any]:
    """Results that later versions must reproduce."""
    probabilities = model.predict_proba(rows).tolist() if hasattr(model, "classes_") else None
    return {
        "parameters": {"criterion": model.criterion, "max_leaf_nodes": model.max_leaf_nodes},
        "predictions": model.predict(rows).tolist(),
        "probabilities": probabilities,
        "leaves": model.apply(rows).tolist(),
        "reasons": model.tree_.reasons,
    }


def predictions(model: Any, names: tuple[str, ...], rows: Any) -> dict[str, Any]:
    """Results of those methods that the model has."""
    present = [name for name in names if hasattr(model, name)]
    return {name: getattr(model, name)(rows).tolist() for name in present}


def attributes(model: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Values of those fitted attributes that the model has."""
    found = {name: getattr(model, name) for name in names if hasattr(model, name)}
    return {name: np.asarray(value).tolist() for name, value in found.items()}


def forest_results(model: Any, rows: Any) -> dict[str, Any]:
    """Results that later versions must reproduce."""
    results = predictions(model, ("predict", "predict_proba", "apply"), rows)
    if hasattr(model, "leaf_targets_"):
        results["predict_interval"] = model.predict_interval(rows, 0.5, method="quantiles").tolist()
    return {
        "parameters": {"max_depth": model.max_depth, "missing": model.missing},
        "predictions": results,
        "attributes": attributes(
            model,
            ("oob_score_", "oob_prediction_", "oob_decision_function_", "feature_importances_"),
        ),
        "curve": model.oob_curve_.error.tolist() if hasattr(model, "oob_curve_") else None,
        "importance": model.oob_importance_.importances.tolist() if model.importance else None,
        "seeds": [str(seed) for seed in model.forest_.tree_seeds],
    }


def bag_results(model: Any, rows: Any) -> dict[str, Any]:
    """Results that later versions must reproduce."""
    return {
        "parameters": {"max_samples": model.max_samples, "oob_score": model.oob_score},
        "predictions": predictions(model, ("predict", "predict_proba"), rows),
        "attributes": attributes(model, ("oob_score_", "oob_prediction_")),
        "votes": model.votes(rows).counts.tolist() if hasattr(model, "votes") else None,
        "samples": [member.tolist() for member in model.estimators_samples_],
        "columns": [member.tolist() for member in model.estimators_features_],
    }


def boost_results(model: Any, rows: Any) -> dict[str, Any]:
    """Results that later versions must reproduce."""
    return {
        "parameters": {"n_estimators": model.n_estimators, "learning_rate": model.learning_rate},
        "predictions": predictions(model, ("predict", "predict_proba", "decision_function"), rows),
        "staged": [stage.tolist() for stage in model.staged_predict(rows)],
        "attributes": attributes(
            model, ("estimator_weights_", "estimator_errors_", "feature_importances_")
        ),
        "stop_reason": model.stop_reason_,
    }


def gradient_results(model: Any, rows: Any) -> dict[str, Any]:
    """Results that later versions must reproduce."""
    names = ("predict", "predict_proba", "decision_function", "apply")
    return {
        "parameters": {"n_estimators": model.n_estimators, "method": model.method},
        "predictions": predictions(model, names, rows),
        "staged": [stage.tolist() for stage in model.staged_predict(rows)],
        "attributes": attributes(model, ("n_estimators_", "feature_importances_")),
    }


def network_results(model: Any, rows: Any) -> dict[str, Any]:
    """Results that later versions must reproduce."""
    names = ("predict", "predict_proba", "predict_joint_log_proba")
    return {
        "parameters": {"training": model.training, "missing": model.missing},
        "predictions": predictions(model, names, rows),
        "attributes": attributes(
            model, ("class_count_", "arc_information_", "feature_importances_", "bicd_")
        ),
        "arcs": [list(arc) for arc in getattr(model, "arcs_", [])],
    }


def latent_results(model: Any, rows: Any) -> dict[str, Any]:
    """Results that later versions must reproduce."""
    return {
        "parameters": {"structure": model.structure, "missing": model.missing},
        "predictions": predictions(model, ("predict", "predict_proba", "score_samples"), rows),
        "attributes": attributes(model, ("weights_", "lower_bound_", "n_parameters_")),
        "arcs": [list(arc) for arc in model.arcs_],
    }


def neighbor_results(model: Any, rows: Any) -> dict[str, Any]:
    """Results that later versions must reproduce."""
    distances, indices = model.kneighbors(rows)
    return {
        "parameters": {"metric": model.metric, "algorithm": model.algorithm},
        "predictions": predictions(model, ("predict", "predict_proba"), rows),
        "attributes": attributes(model, ("n_neighbors_", "n_samples_fit_")),
        "distances": distances.tolist(),
        "indices": indices.tolist(),
    }


def discretizer_results(model: Any, rows: Any) -> dict[str, Any]:
    """Results that later versions must reproduce."""
    return {
        "parameters": {"n_bins": model.n_bins},
        "codes": np.asarray(model.transform(rows)).tolist(),
    }


RESULTS = {
    "kmeans": kmeans_results,
    "mixture": mixture_results,
    "tree": tree_results,
    "forest": forest_results,
    "bag": bag_results,
    "boost": boost_results,
    "gradient": gradient_results,
    "neighbors": neighbor_results,
    "network": network_results,
    "latent": latent_results,
    "discretizer": discretizer_results,
}


def main() -> None:
    """Write the files that do not exist yet."""
    for name, (model, rows) in models().items():
        path = HERE / f"model-v{VERSION}-{name}.ceiba"
        if path.exists():
            print(f"{path.name} exists")
            continue
        ceiba.save(model, path)
        if rows is not None:
            results = RESULTS[name.partition("-")[0]]
            expected = {
                "rows": rows if isinstance(rows, list) else rows.tolist(),
                "dtype": None if isinstance(rows, list) else str(rows.dtype),
                **results(model, rows),
            }
            path.with_suffix(".json").write_text(json.dumps(expected) + "\n")
        print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
