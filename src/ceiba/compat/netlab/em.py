"""EM with Netlab's convergence test and reset of covariances."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base import Iterations
from ceiba.base.errstate import with_default_errstate
from ceiba.compat.netlab.inputs import Options, Rows
from ceiba.compat.netlab.mix import Mix, check_mix
from ceiba.mixture.config import EMConfig, MixtureData
from ceiba.mixture.covariance import CovarianceFloor
from ceiba.mixture.em import Convergence, EMResult, em
from ceiba.mixture.statistics import Gaussians
from ceiba.stats import Moments, PointSpace
from ceiba.stats.dependence import describe_dependences, find_dependences

_EPS = float(np.finfo(np.float64).eps)


@with_default_errstate
def gmmem(mix: Mix, x: Any, options: Any) -> tuple[Mix, Array, Array]:
    """Train a mixture by EM, starting from its parameters.

    Parameters
    ----------
    mix : Mix
    x : array of shape (n, nin)
    options : array of shape (18,)
        See `foptions`. It ends when the error changed by less than ``options[2]`` from one cycle
        to the next, or after ``options[13]`` cycles. With ``options[4] = 1`` a component whose
        minimum variance, in any direction, falls below 2.2e-16 gets its initial covariance back,
        as does one whose covariance is singular to rounding, for which Netlab stops; otherwise a
        component that collapses raises an error. Both name columns that are linearly dependent.

    Returns
    -------
    mix : Mix
        A new one; the argument is not changed.
    options : ndarray of shape (18,)
        With the final error in ``options[7]``: the negative log-likelihood of ``x``.
    errlog : ndarray
        The error at each cycle, before its parameters were changed.

    Examples
    --------
    >>> from ceiba.compat.netlab import foptions, gmm
    >>> mix = gmm(1, 1, "full", random_state=0)
    >>> options = foptions()
    >>> options[0] = -1
    >>> mix, options, errlog = gmmem(mix, [[1.0], [2.0], [3.0]], options)
    >>> mix.centres, len(errlog)
    (array([[2.]]), 3)

    References
    ----------
    Dempster, Laird & Rubin (1977), "Maximum likelihood from incomplete data via the EM algorithm",
    JRSS B 39.
    """
    mix, config = check_mix(mix), Options.of(options)
    initial, rows = mix.gaussians(), Rows.of(x, mix.nin)
    cycles = Cycles(config)
    result = _run_em(mix, initial, rows, config, cycles)
    if result.floored.any():
        config.warn_reset(_describe_dependences(rows))
    if result.n_iter == config.max_cycles:
        config.warn_not_converged("EM")
    final_options = config.with_error(-result.log_likelihood)
    return mix.with_gaussians(result.model), final_options, np.array(cycles.errlog)


def _run_em(mix: Mix, initial: Gaussians, rows: Rows, options: Options, cycles: Cycles) -> EMResult:
    mean, ones = np.average(mix.centres, axis=0), np.ones(mix.nin)
    data = MixtureData(
        rows.engine,
        (rows.points,),
        replace(rows.reduce(Moments.of), mean=mean),
        PointSpace(mean, has_missing=False),
        variances=ones,
        schema=rows.points.table().schema,
        constant=np.zeros(mix.nin, bool),
        row_weights=(0.0,),  # no component counts as lost: Netlab has no rule for that
    )
    reset = CovarianceReset(_EPS, ones, initial=initial.covariances)
    floor = reset if options.switch else NoFloor(0.0, ones)
    config = EMConfig(mix.form, floor, sizes=(mix.ncentres,))
    convergence = AbsoluteChange(options.error_tolerance, data.weight, data.log_scale)
    try:
        # A component without rows has the covariance 0 / 0, which the floor detects.
        with np.errstate(invalid="ignore", divide="ignore"):
            return em(data, config, initial, cycles, convergence)
    except np.linalg.LinAlgError:
        cause = _describe_dependences(rows) if mix.form.full else ""
        remedy = "" if options.switch else "set options[4] = 1 to reset such covariances, or "
        raise ValueError(
            f"the covariance of a component is not positive definite in cycle {cycles.count}: "
            f"{remedy}use fewer centres or covar_type 'diag' or 'spherical'. {cause}".rstrip()
        ) from None


def _describe_dependences(rows: Rows) -> str:
    """Return a sentence about linearly dependent columns of ``x``; empty without any."""
    x = rows.values
    if len(x) <= x.shape[1] or x.shape[1] == 1:
        return ""
    names = [f"x[:, {column}]" for column in range(x.shape[1])]
    found = find_dependences(x.mean(axis=0), np.cov(x.T, bias=True), names)
    return describe_dependences(found)


class Cycles(Iterations):
    """Iterations that keep and print the error of each cycle."""

    __slots__ = ("errlog", "options")

    def __init__(self, options: Options) -> None:
        super().__init__(None, options.max_cycles, name="EM")
        self.options = options
        self.errlog: list[float] = []

    def record(self, **values: Any) -> None:
        """Keep the error of the current cycle."""
        error = -float(values["log_likelihood"])
        self.errlog.append(error)
        self.options.print_cycle(len(self.errlog), error)

    def end(self, **values: Any) -> None:
        """Keep the final error of a run that converged, as one more cycle."""
        if len(self.errlog) < self.options.max_cycles:
            self.record(**values)


class AbsoluteChange(Convergence):
    """Convergence test on the absolute change of the error, ``tol``."""

    __slots__ = ()

    def has_converged(self, objective: float, previous: float) -> bool:
        """Whether the error changed by less than ``tol``."""
        return abs(objective - previous) < self.tol

    def has_decreased(self, objective: float, previous: float) -> bool:
        """Return False: Netlab continues where a reset has raised the error."""
        return False


class NoFloor(CovarianceFloor):
    """No lower bound of covariances."""

    __slots__ = ()

    def apply(self, covariances: Array) -> tuple[Array, Array]:
        """Return the covariances; NaN becomes zero, which is not positive definite."""
        raised = np.zeros(len(covariances), bool)
        return np.where(np.isfinite(covariances), covariances, 0.0), raised


@dataclass(frozen=True, slots=True)
class CovarianceReset(CovarianceFloor):
    """Reset covariances below the floor in any direction to the initial ones."""

    initial: Array = field(default_factory=lambda: np.empty(0))

    def apply(self, covariances: Array) -> tuple[Array, Array]:
        """Return the covariances, reset where needed, and which components were reset."""
        low = ~(_min_variances(covariances) >= self.fraction)
        mask = low.reshape(-1, *[1] * (covariances.ndim - 1))
        return np.where(mask, self.initial, covariances), low


def _min_variances(covariances: Array) -> Array:
    """Return the minimum variance of each component; NaN if not finite, 0 if only rounding."""
    if covariances.ndim == 2:
        return np.asarray(covariances.min(axis=1))
    finite = np.isfinite(covariances).all(axis=(1, 2))
    minimum = np.full(len(covariances), np.nan)
    values = np.linalg.eigvalsh(covariances[finite])
    # The smallest eigenvalue of a singular matrix is a rounding error of the largest one.
    rounding = values.shape[-1] * _EPS * values[:, -1]
    minimum[finite] = np.where(values[:, 0] > rounding, values[:, 0], 0.0)
    return minimum
