"""Initial parameters of EM: from k-means, from random rows or responsibilities, or given."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base import Iterations
from ceiba.cluster.lloyd import lloyd
from ceiba.cluster.seeding import DrawKey, kmeans_plusplus, random_rows
from ceiba.engine import Engine
from ceiba.mixture.config import EMConfig
from ceiba.mixture.covariance import CovarianceForm, is_symmetric
from ceiba.mixture.data import MixtureData
from ceiba.mixture.densities import Gaussians
from ceiba.mixture.em import m_step
from ceiba.mixture.statistics import (
    ComponentMoments,
    ExpectedMoments,
    GivenResponsibilities,
    NearestCenterResponsibilities,
    RandomResponsibilities,
    Responsibilities,
)
from ceiba.stats.moments import Moments
from ceiba.stats.points import squares_fit

# An initialization need not be the best clustering: iterations and tolerance of its k-means.
_KMEANS_ITER, _KMEANS_TOL = 100, 1e-4
# Fraction of a column's variance that counts as zero.
_NEGLIGIBLE = 1e-6
# Fraction of a row's weight that counts as zero.
_EMPTY = 1e-6


def initial_model(data: MixtureData, config: EMConfig, run: int) -> Gaussians:
    """Return the parameters with which run number ``run`` begins."""
    k, d = sum(config.sizes), len(data.variances)
    if config.has_all_parameters:
        weights = _check_weights(config.weights_init, k)
        means = _check_means(config.means_init, k, d, data.moments)
        return _gaussians(weights, means, _covariances(config.precisions_init, config.form, k, d))
    moments = _fill_empty(_initial_moments(data, config, run), data, config)
    model, _ = m_step(moments, config)
    if config.weights_init is not None:
        model = replace(model, weights=_check_weights(config.weights_init, k))
    if config.means_init is not None:
        model = replace(model, means=_check_means(config.means_init, k, d, data.moments))
    if config.precisions_init is not None:
        covariances = _covariances(config.precisions_init, config.form, k, d)
        model = _gaussians(model.weights, model.means, covariances)
    return model


def _initial_moments(data: MixtureData, config: EMConfig, run: int) -> ComponentMoments:
    """Compute the moments of the initial components, group by group."""
    sums = []
    for index, (rows, k) in enumerate(zip(data.groups, config.sizes, strict=True)):
        draw = run * len(config.sizes) + index
        responsibilities = _responsibilities(rows, data, config, k, draw)
        sums.append(_weighted_moments(rows, data, k, config.form.full, responsibilities))
        rows.clear_scratch()  # bounds and distances of k-means
    return ExpectedMoments.stack(sums).centered()


def _responsibilities(
    rows: Any, data: MixtureData, config: EMConfig, k: int, draw: int
) -> Responsibilities | None:
    if config.responsibilities is not None:
        return GivenResponsibilities(config.responsibilities)
    if k == 1:  # every row belongs to the component, whatever its density
        return None
    if config.init_params == "random":
        return RandomResponsibilities(DrawKey(config.seed, draw, 0))
    centers = _initial_centers(rows, data, config, k, draw)
    return NearestCenterResponsibilities(data.space, centers)


def _initial_centers(rows: Any, data: MixtureData, config: EMConfig, k: int, draw: int) -> Array:
    engine, space = data.engine, data.space
    if config.init_params == "random_from_data":
        return random_rows(rows, engine, space, k, config.seed, draw)
    centers = kmeans_plusplus(rows, engine, space, k, config.seed, draw)
    if config.init_params == "k-means++":
        return centers
    tol = _KMEANS_TOL * float(np.mean(data.variances))
    iterations = Iterations(None, _KMEANS_ITER, name="k-means")
    return lloyd(rows, engine, space, centers, iterations, tol, lambda centers: {}).centers


def _weighted_moments(
    rows: Any, data: MixtureData, k: int, full: bool, responsibilities: Responsibilities | None
) -> ExpectedMoments:
    """Sum under responsibilities; missing values count as their column's mean and variance."""
    common = data.common_gaussians(k, full)
    reduce = data.engine.reduce
    sums = reduce(rows, ExpectedMoments.of, common, None, responsibilities)
    if not sums.loses_digits(_NEGLIGIBLE * data.variances):
        return sums
    return reduce(rows, ExpectedMoments.of, common, sums.means, responsibilities)


def _fill_empty(moments: ComponentMoments, data: MixtureData, config: EMConfig) -> ComponentMoments:
    """Give a center that no row is nearest to the weight of one row and the data's variances."""
    row_weights = np.repeat(data.row_weights, config.sizes)
    empty = moments.weights < _EMPTY * row_weights
    if not empty.any():
        return moments
    common = data.common_gaussians(len(empty), config.form.full)
    axes = [1] * (moments.scatters.ndim - 1)
    scatters = row_weights.reshape(-1, *axes) * common.covariances
    return replace(
        moments,
        weights=np.where(empty, row_weights, moments.weights),
        scatters=np.where(empty.reshape(-1, *axes), scatters, moments.scatters),
    )


def _gaussians(weights: Array, means: Array, covariances: Array) -> Gaussians:
    try:
        return Gaussians.of(weights, means, covariances)
    except np.linalg.LinAlgError:
        raise ValueError("precisions_init must be positive definite.") from None


def _check_weights(given: Any, k: int) -> Array:
    weights = _check_array(given, (k,), "weights_init")
    if (weights < 0).any() or not np.isclose(weights.sum(), 1.0, rtol=0, atol=1e-6):
        raise ValueError(
            f"weights_init must be >= 0 and sum to 1, got {weights.min():g} as the smallest and "
            f"{weights.sum():g} as the sum."
        )
    scaled: Array = weights / weights.sum()
    return scaled


def _check_means(given: Any, k: int, d: int, moments: Moments) -> Array:
    means = _check_array(given, (k, d), "means_init")
    if not squares_fit(moments.extended_to(means).spread, "float64"):
        raise ValueError("means_init must be near the rows: squared distances overflow.")
    return means


def _covariances(given: Any, form: CovarianceForm, k: int, d: int) -> Array:
    precisions = _check_array(given, form.fitted_shape(k, d), "precisions_init")
    if precisions.ndim < 2 or not form.full:
        if not (precisions > 0).all():
            raise ValueError("precisions_init must be positive.")
        return form.from_fitted(1.0 / precisions, k, d)
    if not is_symmetric(precisions):
        raise ValueError("precisions_init must be symmetric.")
    try:
        np.linalg.cholesky(precisions)
    except np.linalg.LinAlgError:
        raise ValueError("precisions_init must be positive definite.") from None
    inverse = np.linalg.inv(precisions)
    return form.from_fitted(0.5 * (inverse + np.swapaxes(inverse, -1, -2)), k, d)


def _check_array(given: Any, shape: tuple[int, ...], name: str) -> Array:
    try:
        array = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of numbers of shape {shape}.") from None
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite.")
    return array


def check_responsibilities(given: Any, n_rows: int, k: int, engine: Engine) -> Array:
    """Check and normalize the initial responsibilities of rows in memory."""
    if not engine.in_memory:
        raise ValueError(
            "responsibilities_init requires rows in memory: use weights_init, means_init and "
            "precisions_init."
        )
    values = np.array(given, dtype=np.float64, order="C")
    if values.shape != (n_rows, k):
        raise ValueError(
            f"responsibilities_init must have shape {(n_rows, k)}, (n_samples, n_components), got "
            f"{values.shape}."
        )
    totals = values.sum(axis=1, keepdims=True)
    if not np.isfinite(values).all() or (values < 0).any() or not (totals > 0).all():
        raise ValueError(
            "responsibilities_init must be finite and >= 0, with a positive entry in every row."
        )
    normalized: Array = values / totals
    return normalized
