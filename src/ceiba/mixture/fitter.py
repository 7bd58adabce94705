"""Fit a mixture by EM from one or several initializations, drawn or given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base import Iterations, Trace
from ceiba.cluster.lloyd import DrawKey, kmeans_plusplus, lloyd, random_rows
from ceiba.data.encoding import Encoding
from ceiba.engine import Engine
from ceiba.mixture.config import EMConfig, MixtureData, group_slices
from ceiba.mixture.covariance import CovarianceForm, check_array, check_probabilities, is_symmetric
from ceiba.mixture.densities import ComponentRows, number_input_rows
from ceiba.mixture.em import Convergence, EMResult, em, m_step
from ceiba.mixture.events import MAX_EVENT_ROWS, FitEvent
from ceiba.mixture.statistics import (
    ComponentMoments,
    ExpectedMoments,
    Gaussians,
    Responsibilities,
    given_responsibilities,
    nearest_responsibilities,
    random_responsibilities,
)
from ceiba.stats.points import Moments, squares_fit

# An initialization need not be the best clustering: iterations and tolerance of its k-means.
_KMEANS_ITER, _KMEANS_TOL = 100, 1e-4
# Fraction of a column's variance that counts as zero.
_NEGLIGIBLE = 1e-6
# Fraction of a row's weight that counts as zero.
_EMPTY = 1e-6


@dataclass(frozen=True, slots=True)
class FitResult:
    """Best run of a fit, its trace and events, and the objective of each initialization."""

    best: EMResult
    trace: Trace | None
    events: tuple[FitEvent, ...]
    objectives: tuple[float, ...]
    stopped: bool = False  # whether a callback ended the fit
    choice: Any = None  # the `MixtureChoice`, where a criterion selected the mixture


def fit_mixture(
    data: MixtureData,
    config: EMConfig,
    sizes: tuple[int, ...],
    estimator: Any = None,
    fitted: Callable[[Gaussians], dict[str, Any]] = lambda model: {},
    *,
    single: bool = True,
) -> FitResult:
    """Fit ``sizes`` components per group of rows.

    ``single``: whether this is the only mixture that the estimator fits, so that the number of
    runs is known to progress reports.

    References
    ----------
    Biernacki, Celeux & Govaert (2003), "Choosing starting values for the EM algorithm for getting
    the highest likelihood in multivariate Gaussian mixture models", Computational Statistics &
    Data Analysis 41.
    """
    with explain_singular_covariance(data, config):
        config = config.with_sizes(sizes)
        convergence = Convergence(config.tol, data.weight, data.log_scale)
        run_em = partial(em, data, convergence=convergence, fitted=fitted)
        n_runs = _n_runs(config)
        max_iter, short_iter = config.max_iter, config.short_iter
        short = n_runs > 1 and short_iter is not None and short_iter < max_iter
        n_reported = n_runs + short if single else None
        runs: list[tuple[EMResult, Iterations]] = []
        for run in range(n_runs):
            model = initial_model(data, config, run)
            iterations = Iterations(
                estimator,
                (short_iter if short else None) or max_iter,
                trace=config.trace,
                name="EM",
                runs=n_reported,
            )
            runs.append((run_em(config, model, iterations), iterations))
            if iterations.stopped:  # a callback that stops one run stops them all
                break
        best, iterations = _first_best(runs, convergence)
        stopped = runs[-1][1].stopped
        if short and not best.converged and not stopped:
            if iterations.trace is not None:
                iterations.trace.remove_last()  # the continued run records this frame again
            iterations = Iterations(estimator, max_iter, name="EM", after=iterations)
            remaining = replace(config, sizes=best.sizes)
            best = run_em(
                remaining, best.model, iterations, events=best.events, objectives=best.objectives
            )
        events = collect_events(data, best)
        objectives = tuple(result.objective for result, _ in runs)
        return FitResult(best, iterations.trace, events, objectives, stopped or iterations.stopped)


def _n_runs(config: EMConfig) -> int:
    """Return the number of initializations; 1 where all of them would be equal."""
    given = config.has_all_parameters or config.responsibilities is not None
    return 1 if given or max(config.sizes) == 1 else config.n_init


def _first_best(
    runs: list[tuple[EMResult, Iterations]], convergence: Convergence
) -> tuple[EMResult, Iterations]:
    """Return the first run that is best up to rounding: several often end at the same model."""
    highest = max(result.objective for result, _ in runs)
    return next(run for run in runs if not convergence.has_decreased(run[0].objective, highest))


@contextmanager
def explain_singular_covariance(data: MixtureData, config: EMConfig) -> Iterator[None]:
    """Turn the error of a singular covariance into one that names cause and remedy."""
    try:
        yield
    except np.linalg.LinAlgError:
        floor = config.covariance_floor
        causes = [_constant_columns(data)]
        if config.form.full:
            causes.append(data.describe_dependences(floor))
        cause = " ".join(filter(None, causes))
        raise ValueError(
            f"A covariance is singular to rounding: covariance_floor={floor:g} is too low for "
            f"these data. Set it to 1e-6 or more, or set reg_covar. {cause}".rstrip()
        ) from None


def _constant_columns(data: MixtureData) -> str:
    names = Encoding.of(data.schema).names
    constant = ", ".join(repr(names[j]) for j in np.flatnonzero(data.constant))
    return f"Constant columns: {constant}. Drop them." if constant else ""


def collect_events(data: MixtureData, result: EMResult) -> tuple[FitEvent, ...]:
    """Add the components at the floor, with their main rows, to the events of a run."""
    events = list(result.events)
    for index, group in enumerate(group_slices(result.sizes)):
        floored = tuple(int(component) for component in np.flatnonzero(result.floored[group]))
        if not floored:
            continue
        rows = number_input_rows(data.groups[index], data.engine)
        model = result.model.take(group)
        found = data.engine.reduce(rows, ComponentRows.of, model, floored, MAX_EVENT_ROWS)
        for component, top in zip(floored, found.components, strict=True):
            own = tuple(int(row) for row in top.rows[top.values > 0.5])
            weight = float(result.moments.weights[group.start + component])
            events.append(FitEvent("floored", result.n_iter, component, weight, own, index))
    return tuple(events)


def initial_model(data: MixtureData, config: EMConfig, run: int) -> Gaussians:
    """Return the parameters with which run number ``run`` begins."""
    k, d = sum(config.sizes), len(data.variances)
    if config.has_all_parameters:
        weights = check_probabilities(config.weights_init, k, "weights_init")
        means = _check_means(config.means_init, k, d, data.moments)
        return _gaussians(weights, means, _covariances(config.precisions_init, config.form, k, d))
    moments = _fill_empty(_initial_moments(data, config, run), data, config)
    model, _ = m_step(moments, config)
    if config.weights_init is not None:
        model = replace(model, weights=check_probabilities(config.weights_init, k, "weights_init"))
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
        return partial(given_responsibilities, values=config.responsibilities)
    if k == 1:  # every row belongs to the component, whatever its density
        return None
    if config.init_params == "random":
        return partial(random_responsibilities, key=DrawKey(config.seed, draw, 0))
    centers = _initial_centers(rows, data, config, k, draw)
    return partial(nearest_responsibilities, space=data.space, centers=centers)


def _initial_centers(rows: Any, data: MixtureData, config: EMConfig, k: int, draw: int) -> Array:
    engine, space = data.engine, data.space
    if config.init_params == "random_from_data":
        return random_rows(rows, engine, space, k, config.seed, draw)
    if config.init_params == "k-means++":
        return kmeans_plusplus(rows, engine, space, k, config.seed, draw)
    iterations = Iterations(None, _KMEANS_ITER, name="k-means")
    tol = _KMEANS_TOL * float(np.mean(data.variances))
    centers = kmeans_plusplus(rows, engine, space, k, config.seed, draw)
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


def _check_means(given: Any, k: int, d: int, moments: Moments) -> Array:
    means = check_array(given, (k, d), "means_init")
    if not squares_fit(moments.extended_to(means).spread, "float64"):
        raise ValueError("means_init must be near the rows: squared distances overflow.")
    return means


def _covariances(given: Any, form: CovarianceForm, k: int, d: int) -> Array:
    precisions = check_array(given, form.fitted_shape(k, d), "precisions_init")
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
    return np.asarray(values / totals)
