"""Long runs of random forests: comparison with the naive forest, and invariants."""

from __future__ import annotations

import warnings
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceiba import load, save
from ceiba.ensemble.common.sampling import OutOfBagWarning
from tests.ensemble.forest.parts import forest_bits
from tests.oracles.forest_fits import assert_forest_predictions, fit
from tests.oracles.forest_tables import forest_options, forest_problem, tables_for
from tests.oracles.forest_walk import assert_forest
from tests.oracles.tree_tables import fresh_rows
from tests.soak.cases import Chance, cases, some_forest, state

pytestmark = [
    pytest.mark.soak,
    pytest.mark.filterwarnings("ignore:.*no out-of-bag prediction"),
]
SEEDS = st.integers(0, 2**63 - 1)

# Comparison with the naive forest

# Limits that no impurity or gain of a small table equals exactly.
LIMITS: list[dict[str, Any]] = [
    *({"max_depth": depth} for depth in (1, 2, 3)),
    *({"min_samples_split": rows} for rows in (3, 6, 0.35)),
    *({"min_samples_leaf": rows} for rows in (2, 3, 0.15)),
    *({"min_weight_fraction_leaf": fraction} for fraction in (0.0625, 0.125)),
    *({"min_impurity_decrease": gain} for gain in (0.0313, 0.1117)),
    *({"max_leaf_nodes": leaves} for leaves in (2, 3, 5)),
]
SOME_LIMITS = st.lists(st.sampled_from(LIMITS), max_size=2).map(
    lambda found: {name: value for limit in found for name, value in limit.items()}
)


@st.composite
def naive_cases(draw: Any) -> tuple[Any, Any]:
    """Draw a small table and options of all kinds."""
    criterion = draw(
        st.sampled_from(["gini", "entropy", "squared_error", "absolute_error", "poisson"])
    )
    weights = draw(st.sampled_from(["one", "integer", "fractional"]))
    is_random = criterion != "absolute_error" and draw(st.booleans())
    # Thresholds are drawn as floats, which cannot distinguish integers above 2^53.
    wild = not is_random and draw(st.booleans())
    found = draw(tables_for(criterion, weights=weights, wild=wild, rows=18, columns=5))
    given_options = {"criterion": criterion, **draw(SOME_LIMITS), **draw(rows_of(found))}
    if criterion == "poisson":  # rounding decides which leaf is split first
        given_options.pop("max_leaf_nodes", None)
    if is_random:
        given_options |= {"thresholds": "random", "n_thresholds": draw(st.integers(1, 4))}
    per = draw(st.sampled_from(["node", "tree", "both"]))
    options = draw(forest_options(found, per, **given_options))
    if found.target.n_classes is not None:
        options = replace(options, **draw(class_options(found, options)))
    return found, options


@st.composite
def rows_of(draw: Any, found: Any) -> dict[str, Any]:
    """Draw how rows are sampled, and their number."""
    there = sum(w > 0 for w in found.target.weights)
    fraction = draw(st.sampled_from([None, None, 0.4, 1.0, min(3, there)]))
    return {"bootstrap": draw(st.booleans()), "max_samples": fraction}


@st.composite
def class_options(draw: Any, found: Any, options: Any) -> dict[str, Any]:
    """Draw class weights for which rounding does not matter, and leaf probabilities."""
    k = found.target.n_classes
    each = st.lists(st.sampled_from([1, 2, Fraction(1, 2)]), min_size=k, max_size=k)
    weights: list[Any] = [st.none(), st.none(), each]
    is_even = not found.weighted and options.missing != "majority"
    if is_even and not options.min_weight_fraction_leaf and not options.min_impurity_decrease:
        weights += [st.sampled_from(["balanced", "balanced_subsample"])]
    weight = draw(st.one_of(weights))
    leaf = draw(st.sampled_from(["plain", "laplace"]))
    return {"class_weight": weight, "leaf_probability": leaf}


@cases(8_000)
@given(data=st.data())
def test_random_forests_match_naive(data: Any) -> None:
    found, options = data.draw(naive_cases())
    model = fit(found, options)
    members = assert_forest(model, forest_problem(found, options))
    assert_forest_predictions(model, members, found)
    assert_forest_predictions(model, members, data.draw(fresh_rows(found)))


# Invariants


@cases(3_000)
@given(seed=SEEDS)
def test_forests_do_not_depend_on_number_of_threads(seed: int) -> None:
    kind, X, y, weight, options = some_forest(Chance(seed))
    trees = Chance(seed).between(1, 12)
    models = [kind(trees, n_jobs=jobs, **options).fit(X, y, weight) for jobs in (1, 2, 4)]
    assert forest_bits(models[0]) == forest_bits(models[1]) == forest_bits(models[2])
    predictions = [model._predict(X) for model in models]
    np.testing.assert_array_equal(predictions[0], predictions[1])
    np.testing.assert_array_equal(predictions[0], predictions[2])
    leaves = models[0].apply(X)
    np.testing.assert_array_equal(leaves, models[2].apply(X))
    np.testing.assert_array_equal(leaves[: len(X) // 2], models[1].apply(X[: len(X) // 2]))


def fit_with_oob(model: Any, X: Any, y: Any, weight: Any) -> Any:
    """Fit with out-of-bag results, or without them if no row is out of bag."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutOfBagWarning)
        try:
            return model.set_params(oob_score=True, importance=True).fit(X, y, weight)
        except ValueError as error:
            if "out of" not in str(error) and "out-of-bag" not in str(error):
                raise
            return model.set_params(oob_score=False, importance=False).fit(X, y, weight)


@cases(3_000)
@given(seed=SEEDS)
def test_model_file_round_trip(seed: int, tmp_path_factory: Any) -> None:
    kind, X, y, weight, options = some_forest(Chance(seed))
    model = fit_with_oob(kind(4, n_jobs=1, **options), X, y, weight)
    path, again = (tmp_path_factory.getbasetemp() / name for name in ("forest", "again"))
    save(model, path)
    for mmap in (False, True):
        back = load(path, mmap=mmap)
        assert back.get_params() == model.get_params()
        assert state(back) == state(model)
        np.testing.assert_array_equal(back._predict(X), model._predict(X))
        np.testing.assert_array_equal(back.apply(X), model.apply(X))
        save(back, again)
        assert again.read_bytes() == path.read_bytes()


@cases(2_000)
@given(seed=SEEDS)
def test_warm_start_equals_single_fit(seed: int) -> None:
    chance = Chance(seed)
    kind, X, y, weight, options = some_forest(chance)
    sizes = sorted({chance.between(1, 4), chance.between(5, 7), 8})
    once = kind(8, n_jobs=1, **options).fit(X, y, weight)
    grown = kind(warm_start=True, n_jobs=1, **options)
    for size in sizes:
        grown.set_params(n_estimators=size).fit(X, y, weight)
    assert forest_bits(grown) == forest_bits(once)
    assert state(grown) == state(once)


@cases(2_000)
@given(seed=SEEDS)
def test_forests_merged_and_split(seed: int) -> None:
    chance = Chance(seed)
    kind, X, y, weight, options = some_forest(chance)
    del options["random_state"]
    parts = [
        kind(n, random_state=chance.between(1, 2**31) + s * 2**31, n_jobs=1, **options)
        for s, n in enumerate((3, 1, 2))
    ]
    parts[0].fit(X, y, weight)
    for part in parts[1:]:
        # Other weights of the same rows, and so of the same classes.
        part.fit(X, y, weight if weight is None else (weight > 0) * chance.of(weight, 1.0, 0.3))
    merged = parts[0].merge_forests(*parts[1:])
    np.testing.assert_array_equal(merged.apply(X), np.hstack([part.apply(X) for part in parts]))
    mean = sum(part.forest_.n_trees * part._predict(X) for part in parts) / 6
    np.testing.assert_allclose(merged._predict(X), mean, rtol=1e-12, atol=1e-12)
    for part, others in zip(parts, ([3, 4, 5], [0, 1, 2, 4, 5], [0, 1, 2, 3]), strict=True):
        alone = merged.drop_trees(others)
        np.testing.assert_array_equal(alone._predict(X), part._predict(X))
        for name in ("nodes", "tree_offsets", "words", "tables", "leaves", "tree_seeds"):
            one, other = getattr(alone.forest_, name), getattr(part.forest_, name)
            np.testing.assert_array_equal(one, other, err_msg=name)
