"""Exponential-family columns and the joint model that discriminative training moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ceiba._typing import Array
from ceiba.base.scaling import StoredScaling
from ceiba.bayes.discriminative.density_model import DensityModel
from ceiba.bayes.discriminative.density_rows import DensityRows
from ceiba.bayes.discriminative.density_training import DensityLikelihood
from ceiba.bayes.discriminative.exponential import (
    ExponentialColumns,
    GaussianExponential,
    PoissonExponential,
    _first_positive_root,
)
from ceiba.bayes.discriminative.margins import match_column_margins
from ceiba.bayes.discriminative.newton import Hessian
from ceiba.bayes.distributions.gaussian import GaussianColumns
from ceiba.bayes.distributions.poisson import PoissonColumns
from ceiba.bayes.families import Families, Structure
from ceiba.bayes.network import ClassTable
from ceiba.engine.local import LocalEngine
from tests.bayes.test_density_training import rows_of
from tests.oracles import bayes_density_naive as naive

STEP = 1e-6
RNG = np.random.default_rng
GAUSSIAN = GaussianExponential(
    np.arange(2), np.array([3.0, -1.0]), np.array([2.0, 0.5]), StoredScaling.identity(2)
)
POISSON = PoissonExponential(np.arange(2), np.array([4.0, 1e9]), np.array([3.0, 4e4]))
MEANS = {
    "gaussian": (GAUSSIAN, np.stack([RNG(0).normal(size=(2, 3)), 3 + RNG(1).random((2, 3))])),
    "poisson": (POISSON, 0.4 * RNG(2).normal(size=(1, 2, 3))),
}
blocks = pytest.mark.parametrize(("block", "means"), MEANS.values(), ids=MEANS)


@blocks
def test_natural_and_mean_parameters(block: ExponentialColumns, means: Array) -> None:
    natural = block.natural(means)
    np.testing.assert_allclose(block.means(natural), means, rtol=1e-9)
    np.testing.assert_allclose(block.means_of(block.fitted(natural)), means, rtol=1e-6)
    covariance = block.covariance(means)
    for i in range(block.n_terms):
        ends = [natural.copy(), natural.copy()]
        unit = STEP * np.abs(natural[i]).max(axis=1, keepdims=True)
        ends[0][i] += unit
        ends[1][i] -= unit
        slopes = np.subtract(*map(block.log_normalizer, ends)) / (2 * unit)
        np.testing.assert_allclose(slopes, means[i], rtol=1e-4, atol=1e-6)
        changes = np.subtract(*map(block.means, ends)) / (2 * unit)
        np.testing.assert_allclose(changes, covariance[i], rtol=1e-4, atol=1e-8)


@blocks
@pytest.mark.parametrize("ridge", [0.0, 2.0])
def test_covariances_are_inverted(block: ExponentialColumns, means: Array, ridge: float) -> None:
    values = RNG(3).normal(size=means.shape)
    found = block.solve_covariance(means, values, np.full(3, ridge))
    product = np.einsum("ij...,j...->i...", block.covariance(means), found) + ridge * found
    np.testing.assert_allclose(product, values, rtol=1e-9)


@blocks
def test_shifts_are_the_same_in_all_classes(block: ExponentialColumns, means: Array) -> None:
    natural = block.natural(means) + 5.0 * np.abs(block.natural(means)).max()
    free = block.first_shift(natural) + 0.1
    moved, shift, slope = block.shifted(natural, free)
    np.testing.assert_allclose(moved - natural, np.broadcast_to(shift[..., None], means.shape))
    assert np.isfinite(block.log_normalizer(moved)).all()
    ends = [block.shifted(natural, free + step)[1] for step in (STEP, -STEP)]
    np.testing.assert_allclose((ends[0] - ends[1]) / (2 * STEP), slope, rtol=1e-4)


def test_densities_that_do_not_exist_have_no_normalizer() -> None:
    natural = np.array([[[1.0, 1.0, 1.0]], [[-1.0, 0.0, 2.0]]])
    assert np.isfinite(GAUSSIAN.log_normalizer(natural)).tolist() == [[True, False, False]]
    assert POISSON.log_normalizer(np.full((1, 2, 1), 1e9))[0] == np.inf


def test_first_positive_root() -> None:
    polynomials = RNG(4).normal(size=(200, 3))
    polynomials[:, 2] = np.abs(polynomials[:, 2])
    polynomials[::7, 0] = 0.0
    polynomials[::14, 1] = 0.0
    found = _first_positive_root(*polynomials.T)
    for root, polynomial in zip(found, polynomials, strict=True):
        roots = np.roots(polynomial)
        real = roots[np.isreal(roots)].real
        assert root == pytest.approx(real[real > 0].min(initial=np.inf))


def likelihood(
    missing: float = 0.0, ridge: float = 0.0, tau: float = 0.0
) -> tuple[DensityLikelihood, naive.DensityTable]:
    """Return the objective of some rows, and the rows."""
    rows = rows_of(50, missing=missing)
    X = np.concatenate([rows.normal, rows.counts], axis=1)
    center, spread = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    own = (
        GaussianExponential(np.arange(2), center[:2], spread[:2], StoredScaling.identity(2)),
        PoissonExponential(np.array([2]), center[2:], spread[2:]),
    )
    codes = np.where(rows.codes < 0, 3, rows.codes).astype(np.uint8)
    labels = rows.y.astype(np.int32)
    prepared = DensityRows(codes, labels, rows.w, rows.n_classes, (X - center) / spread)
    engine = LocalEngine(1)
    families = Families(Structure.naive(1), (4,))
    generative = naive.fit_generative(rows)
    table = np.concatenate([np.log(generative.tables[0]), np.zeros((1, 3))])
    model = DensityModel(families, own, missing > 0)
    scaling = StoredScaling.identity(2)
    deviation = np.sqrt(generative.variance.T)
    fitted = (
        GaussianColumns(np.arange(2), scaling, generative.mean.T, deviation),
        PoissonColumns(np.array([2]), generative.rate.T),
    )
    start = model.start(ClassTable(table, np.log(generative.prior)), fitted)
    found = DensityLikelihood(
        engine, engine.prepared_rows(prepared), families, start, float(rows.w.sum()),
        ridge, tau, missing > 0, blocks=own,
    )  # fmt: skip
    return found, rows


def direction_of(model: DensityModel, seed: int) -> ClassTable:
    rng = RNG(seed)
    known = model.is_known[:, None]
    return ClassTable(np.where(known, rng.normal(size=(len(known), 3)), 0.0), rng.normal(size=3))


SETTINGS: list[dict[str, float]] = [{}, {"ridge": 3.0}, {"tau": 0.4}, {"missing": 0.3}]
SETTINGS.append({"missing": 0.3, "tau": 0.4})


@pytest.mark.parametrize("settings", SETTINGS)
def test_gradient_matches_differences(settings: dict[str, float]) -> None:
    objective, rows = likelihood(**settings)
    weights = objective.start.plus(0.05, direction_of(objective.model, 0))
    value = objective.value(weights)
    if not settings:
        start = objective.value(objective.start)
        wanted = naive.conditional_log_likelihood(rows, naive.fit_generative(rows))
        assert start.log_likelihood == pytest.approx(wanted, abs=1e-9)
    for seed in range(1, 4):
        direction = direction_of(objective.model, seed)
        steps = np.array([1e-5, -1e-5])
        ends = objective.along(value, direction, steps)
        each = objective.objectives([value.weights.plus(float(t), direction) for t in steps])
        np.testing.assert_allclose(each, ends, rtol=1e-12)
        slope = (ends[0] - ends[1]) / 2e-5
        assert value.gradient.dot(direction) == pytest.approx(slope, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_residuals_are_those_of_the_oracle(missing: float) -> None:
    objective, rows = likelihood(missing)
    generative = naive.fit_generative(rows)
    omega = -naive.posteriors(rows, generative)
    omega[np.arange(len(omega)), rows.y] += 1.0
    wanted = naive.class_sums(rows, rows.w[:, None] * omega, generative)
    found = objective.value(objective.start).residuals
    np.testing.assert_allclose(found.bias, wanted.classes, atol=1e-9)
    np.testing.assert_allclose(found.table[:3], wanted.tables[0], atol=1e-9)
    gaussian, poisson = objective.blocks
    center, spread = gaussian.center[:, None], gaussian.spread[:, None]
    values = (wanted.values - center * wanted.classes) / spread
    np.testing.assert_allclose(found.table[4:6], values, atol=1e-9)
    squares = wanted.squares - 2 * center * wanted.values + center**2 * wanted.classes
    np.testing.assert_allclose(found.table[6:8], squares / spread**2, atol=1e-9)
    counts = (wanted.counts - poisson.center[:, None] * wanted.classes) / poisson.spread[:, None]
    np.testing.assert_allclose(found.table[8:], counts, atol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_natural_gradient_is_the_slope_of_a_step(missing: float) -> None:
    objective, _ = likelihood(missing)
    model, value = objective.model, objective.value(objective.start)
    means = model.mean_values(objective.start, objective.total)
    slope = value.residuals.dot(model.natural_gradient(means, value.residuals))
    step = 1e-5
    networks = [model.from_means(means.plus(t, value.residuals)) for t in (step, -step)]
    high, low = objective.objectives(networks)
    assert slope == pytest.approx((high - low) / (2 * step), rel=1e-6)
    assert slope > 0
    back = model.from_means(means)
    np.testing.assert_allclose(back.table, objective.start.table, atol=1e-9)
    np.testing.assert_allclose(back.bias, objective.start.bias, atol=1e-9)


@pytest.mark.parametrize("settings", SETTINGS)
def test_metrics_are_symmetric_and_positive(settings: dict[str, float]) -> None:
    objective, _ = likelihood(**settings)
    model, start, total = objective.model, objective.start, objective.total
    metric: Any = model.metric(start, total, objective.tau)
    if objective.ridge:
        metric = model.ridge_metric(start, total, objective.ridge)
        value = objective.value(metric.min_norm(start))
        same = objective.value(start).log_likelihood
        assert value.log_likelihood == pytest.approx(same, abs=1e-9)
    # Gradients do not change along weights that all classes share, so that they sum to zero.
    one, two = (_centered(direction_of(model, seed)) for seed in (1, 2))
    assert one.dot(metric(two)) == pytest.approx(two.dot(metric(one)), rel=1e-9)
    gradient = objective.value(start).gradient
    assert gradient.dot(metric(gradient)) > 0


def _centered(weights: ClassTable) -> ClassTable:
    table = weights.table - weights.table.mean(axis=1, keepdims=True)
    return ClassTable(table, weights.bias - weights.bias.mean())


@pytest.mark.parametrize("tau", [0.0, 0.4])
def test_hessian_matches_differences(tau: float) -> None:
    objective, _ = likelihood(tau=tau)
    model, weights = objective.model, objective.start
    matrix = objective.reduce(Hessian.of, model, weights).matrix
    matrix = matrix + tau * model.joint_curvature(weights, objective.total)
    direction = direction_of(model, 1)
    ends = [objective.value(weights.plus(t, direction)).gradient for t in (1e-5, -1e-5)]
    change = (model.flatten(ends[0]) - model.flatten(ends[1])) / 2e-5
    np.testing.assert_allclose(-matrix @ model.flatten(direction), change, rtol=1e-5, atol=1e-4)


def test_columns_whose_scale_dies_stay_as_they_are() -> None:
    objective, _ = likelihood()
    model = objective.model
    means = model.mean_values(objective.start, objective.total)
    # Nearly no variance of the first column, and nearly no counts, in the first class.
    means.table[6, 0] = means.table[4, 0] ** 2 / means.bias[0] * (1 + 1e-12)
    _, poisson = objective.blocks
    means.table[8, 0] = -means.bias[0] * poisson.center[0] / poisson.spread[0] * (1 - 1e-12)
    residuals = direction_of(model, 2)
    residuals.table[6, 0] = residuals.table[8, 0] = -100.0
    found = model.freeze_vanishing(residuals, means)
    share = residuals.bias[0] / means.bias[0]
    for row in (4, 6, 8):
        assert found.table[row, 0] == pytest.approx(share * means.table[row, 0])
        assert (found.table[row, 1:] == residuals.table[row, 1:]).all()
    assert model.max_step(means, found) > 1e-3 > model.max_step(means, residuals)


def test_margins_are_those_of_the_start() -> None:
    objective, _ = likelihood()
    model, start = objective.model, objective.start
    weights = start.plus(0.3, direction_of(model, 5))
    found = match_column_margins(model, weights, start)
    normalized = DensityModel(model.families, model.blocks, True)
    margins = [
        own.mean_values(w, 1.0).table.sum(axis=1)
        for own, w in ((model, start), (normalized, found))
    ]
    np.testing.assert_allclose(margins[1], margins[0], atol=1e-7)
    rows = objective.rows.rows
    scores = [model.log_scores(rows, weights, 1), normalized.log_scores(rows, found, 1)]
    one, two = (own - own.mean(axis=1, keepdims=True) for own in scores)
    np.testing.assert_allclose(two, one, atol=1e-9)
