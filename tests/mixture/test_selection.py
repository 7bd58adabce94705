"""Choosing components and form: the table, the selected mixtures, and a choice inside a fit."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

from ceiba import GaussianMixture
from ceiba.base import ParameterError
from ceiba.mixture import MCLUST_TYPES, MixtureChoice, choose_components
from tests.mixture.parts import drop_values, groups, in_partitions, quiet

X = groups(1, 150, 2, 3)
COLUMNS = {
    "n_components", "covariance_type", "log_likelihood", "n_parameters", "bic", "aic", "icl", "cv",
    "spread", "converged", "n_floored", "n_remaining",
}  # fmt: skip


@pytest.fixture(scope="module")
def choice():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return choose_components(X, [2, 1, 3, 3], ["full", "EII", "full"], cv=4)


def test_table_has_one_line_per_mixture(choice):
    assert set(choice.table) == COLUMNS
    pairs = list(zip(choice.table["covariance_type"], choice.table["n_components"], strict=True))
    assert pairs == [(form, k) for form in ("full", "EII") for k in (1, 2, 3)]
    assert all(len(column) == 6 for column in choice.table.values())


def test_criteria_match_the_mixtures(choice):
    table = choice.table
    for line in range(6):
        model = quiet(
            GaussianMixture(
                int(table["n_components"][line]),
                covariance_type=str(table["covariance_type"][line]),
                n_init=3,
                short_iter=None,
            ),
            X,
        )
        for name in ("bic", "aic", "icl"):
            assert getattr(model, name)(X) == pytest.approx(table[name][line])
        assert model.log_likelihood_ == pytest.approx(table["log_likelihood"][line])
        assert bool(table["converged"][line]) == model.converged_


def test_number_of_parameters(choice):
    full = [k * (2 + 3) + k - 1 for k in (1, 2, 3)]
    ball = [k * 2 + 1 + k - 1 for k in (1, 2, 3)]
    assert choice.table["n_parameters"].tolist() == full + ball


@pytest.mark.parametrize("form", MCLUST_TYPES)
def test_number_of_parameters_of_every_form(form):
    k, d = 3, 4
    t = d * (d + 1) // 2
    turns = d * (d - 1) // 2
    covariances = {
        "EII": 1, "VII": k, "EEI": d, "VEI": k + d - 1, "EVI": 1 + k * (d - 1), "VVI": k * d,
        "EEE": t, "VEE": k + t - 1, "EVV": 1 + k * (t - 1), "EEV": d + k * turns,
        "VEV": k + d - 1 + k * turns, "VVV": k * t,
    }  # fmt: skip
    rows = groups(2, 120, d, k)
    found = choose_components(rows, [k], [form], n_init=1)
    assert found.table["n_parameters"].tolist() == [covariances[form] + k * d + k - 1]


def test_best_mixture_of_each_criterion(choice):
    assert choice.best["bic"] == choice.chosen
    assert choice.chosen[0] == 3
    for name in ("bic", "aic", "icl"):
        values = np.where(choice.table["n_floored"] == 0, choice.table[name], np.inf)
        line = int(np.argmin(values))
        k, form = choice.table["n_components"][line], choice.table["covariance_type"][line]
        assert choice.best[name] == (k, form)
    line = int(np.argmax(choice.table["cv"]))
    assert choice.best["cv"][0] == choice.table["n_components"][line]


def test_cross_validation_scores_held_out_rows(choice):
    """Less than the likelihood of training rows, and near it for the right mixture."""
    own = choice.table["log_likelihood"] / 150
    assert (choice.table["cv"] < own).all()
    assert choice.table["cv"][2] > own[2] - 0.5
    again = choose_components(X, [1], ["full"], cv=4, criterion="cv")
    assert again.table["cv"][0] == pytest.approx(choice.table["cv"][0])
    assert again.chosen == (1, "full")
    assert not again.unstable.any()


def test_weights_count_as_rows():
    times = np.random.default_rng(2).integers(0, 4, size=150)
    weighed = choose_components(X, [1], ["full", "diag"], sample_weight=times, n_init=1)
    repeated = choose_components(np.repeat(X, times, axis=0), [1], ["full", "diag"], n_init=1)
    for name in ("log_likelihood", "bic", "aic", "icl"):
        np.testing.assert_allclose(weighed.table[name], repeated.table[name], rtol=1e-9)


def test_cv_is_nan_without_cross_validation():
    found = choose_components(X, [1, 2], ["diag"])
    assert np.isnan(found.table["cv"]).all()
    assert "cv" not in found.best


def test_printed_table_is_complete(choice):
    text = repr(choice)
    assert str(choice) == text
    for word in (
        "components",
        "form",
        "BIC",
        "CV",
        f"BIC: 3 components, {choice.chosen[1]}  <- decides",
        "EII",
    ):
        assert word in text
    assert len(text.split("\n\n")[0].splitlines()) == 7
    assert "not converged" in repr(choose_components(X, [3], ["full"], max_iter=1, n_init=1))


def choice_of(bic, spread):
    n = len(bic)
    return MixtureChoice(
        n_components=np.arange(1, n + 1),
        covariance_type=np.array(["full"] * n),
        log_likelihood=-np.array(bic) / 2,
        n_parameters=np.arange(n),
        bic=np.array(bic, dtype=float),
        aic=np.array(bic, dtype=float),
        icl=np.array(bic, dtype=float),
        cv=np.full(n, np.nan),
        spread=np.array(spread, dtype=float),
        converged=np.ones(n, bool),
        n_floored=np.zeros(n, np.int64),
        n_remaining=np.arange(1, n + 1),
        criterion="bic",
        n_init=3,
    )


@pytest.mark.parametrize(
    ("bic", "spread", "unstable"),
    [
        ([100, 90, 95], [0, 0, 0], []),
        ([100, 90, 95], [9, 0, 9], []),
        ([100, 90, 95], [0, 2, 0], []),
        ([100, 90, 95], [0, 3, 0], [2, 3]),
        ([100, 90, 95], [0, 6, 0], [1, 2, 3]),
    ],
)
def test_choice_decided_by_the_initialization_is_unstable(bic, spread, unstable):
    found = choice_of(bic, spread)
    assert (np.flatnonzero(found.unstable) + 1).tolist() == unstable
    assert ("The initialization decides among" in repr(found)) == bool(unstable)


def test_choice_round_trips(choice):
    for copy in (
        pickle.loads(pickle.dumps(choice)),
        MixtureChoice.from_json(choice.to_json()),
    ):
        assert repr(copy) == repr(choice)
        assert (copy.best, copy.criterion, copy.n_init) == (choice.best, "bic", 3)


# Arguments


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"criterion": "BIC"}, "criterion"),
        ({"criterion": "cv"}, "cv"),
        ({"cv": 1}, "cv"),
        ({"cv": -3}, "cv"),
        ({"cv": 100}, "n_samples >= 200"),
        ({"n_components": []}, "component"),
        ({"covariance_types": []}, "covariance_types"),
        ({"covariance_types": ["complete"]}, "covariance_type"),
        ({"n_components": [0, 1]}, "component"),
        ({"n_components": [-2]}, "component"),
        ({"n_components": [1.5]}, "component"),
        ({"n_components": ["bic"]}, "component"),
        ({"n_components": [1, 151]}, "n_components = 151, n_samples = 150"),
        ({"n_init": 0}, "n_init"),
        ({"tol": -1.0}, "tol"),
    ],
    ids=str,
)
def test_invalid_arguments_raise(arguments, message):
    with pytest.raises(ValueError, match=message):
        choose_components(X, **{"n_components": [1], "covariance_types": ["diag"], **arguments})


def test_single_size_and_type_need_no_list():
    """A single form is one entry: its letters are no forms."""
    try:
        found = choose_components(X, 2, "diag")
    except (TypeError, ValueError) as error:
        assert "n_components" in str(error)  # noqa: PT017 - one of two right outcomes
    else:
        assert found.chosen == (2, "diag")
    try:
        found = choose_components(X, [2], "diag")
    except ParameterError as error:
        assert "'d'" not in str(error)  # noqa: PT017
    else:
        assert found.chosen == (2, "diag")


def test_other_parameters_are_passed_on():
    plain, other = (
        choose_components(X, [2], ["full"], n_init=1, **options)
        for options in ({}, {"reg_covar": 50.0})
    )
    assert plain.table["log_likelihood"][0] > other.table["log_likelihood"][0]


def test_floored_mixtures_are_not_selected():
    rows = np.vstack([X, np.tile([[40.0, 40.0]], (8, 1))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = choose_components(rows, [2, 3, 4, 5], ["full"])
    n_floored = found.table["n_floored"]
    assert (n_floored > 0).any()
    if (n_floored == 0).any():
        line = found.table["n_components"].tolist().index(found.chosen[0])
        assert n_floored[line] == 0


# On engines


@pytest.mark.parametrize("criterion", ["bic", "aic", "icl"])
@pytest.mark.parametrize("rows", [X, drop_values(X)], ids=["whole", "missing"])
def test_partitions_give_the_same_choice(criterion, rows):
    whole = quiet(GaussianMixture(criterion, max_components=4), rows)
    parts = quiet(GaussianMixture(criterion, max_components=4), in_partitions(rows, [20, 21, 90]))
    assert parts.n_components_ == whole.n_components_
    assert parts.choice_.best == whole.choice_.best
    for name in ("bic", "aic", "icl", "log_likelihood"):
        np.testing.assert_allclose(parts.choice_.table[name], whole.choice_.table[name], rtol=1e-6)
    np.testing.assert_allclose(parts.means_, whole.means_, rtol=1e-6)


def test_grid_on_partitions():
    whole = choose_components(X, [1, 2, 3], ["diag", "tied"])
    parts = choose_components(in_partitions(X, [70]), [1, 2, 3], ["diag", "tied"])
    np.testing.assert_allclose(parts.table["bic"], whole.table["bic"], rtol=1e-6)
    with pytest.raises(ValueError, match="in memory"):
        choose_components(in_partitions(X, [70]), [1], ["diag"], cv=3)


def test_cross_validation_of_dask_raises():
    da = pytest.importorskip("dask.array")
    with pytest.raises((ValueError, RuntimeError), match=r"in memory|no Dask cluster"):
        choose_components(da.from_array(X, chunks=(50, 2)), [1], ["diag"], cv=3)


def test_selected_mixture_equals_a_fit_with_that_number():
    model = quiet(GaussianMixture("bic", max_components=4, n_init=4), X)
    plain = quiet(GaussianMixture(model.n_components_, n_init=4, short_iter=None), X)
    np.testing.assert_array_equal(model.means_, plain.means_)
    assert model.choice_.chosen == (3, "full")
    assert model.choice_.n_init == 4
    assert quiet(GaussianMixture("bic", max_components=2), X).choice_.n_init == 3


@pytest.mark.parametrize(
    "options",
    [{"n_latent": 2}, {"trace": True}, {"short_iter": 3}, {"warm_start": True}],
    ids=str,
)
def test_an_option_without_effect_raises(options):
    with pytest.raises(ValueError, match=f"'{next(iter(options))}' has no effect with"):
        choose_components(X, [1], ["full"], **options)
    with_ppca = choose_components(np.hstack([X, X**2]), [1], ["full", "ppca"], n_latent=2)
    assert with_ppca.covariance_type.tolist() == ["full", "ppca"]
