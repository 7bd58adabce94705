"""Netlab's EM: Ceiba's own, under Netlab's rules for the end and for collapse."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base import Steps
from ceiba.compat.netlab.mix import Mix, checked_mix
from ceiba.compat.netlab.options import Options
from ceiba.compat.netlab.rows import Rows
from ceiba.mixture.covariance import Floor
from ceiba.mixture.densities import Gaussians
from ceiba.mixture.em import Run, Setting, em
from ceiba.mixture.m_step import Rules
from ceiba.mixture.repair import Repair

_EPS = float(np.finfo(np.float64).eps)


def gmmem(mix: Mix, x: Any, options: Any) -> tuple[Mix, Array, Array]:
    """Train a mixture by EM, from the parameters that it has.

    Parameters
    ----------
    mix : Mix
    x : array of shape (n, nin)
    options : array of shape (18,)
        See `foptions`. It ends when the error changed by less than ``options[2]`` from one cycle
        to the next, or after ``options[13]`` cycles. With ``options[4] = 1`` a component whose
        least variance, in any direction, falls below 2.2e-16 is given the covariance back that it
        came with; otherwise nothing is done, and one that vanishes is an error.

    Returns
    -------
    mix : Mix
        A new one; that which is passed in stays as it is.
    options : ndarray of shape (18,)
        With the final error in ``options[7]``: the negative log-likelihood of ``x``.
    errlog : ndarray
        The error at each cycle that was made, before its parameters were changed.

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
    mix, wish = checked_mix(mix), Options.of(options)
    start, rows = mix.gaussians(), Rows.of(x, mix.nin)
    cycles = Cycles(wish)
    run = _run(mix, start, rows, wish, cycles)
    if run.n_iter == wish.cycles:
        wish.warn("EM")
    return mix.with_gaussians(run.model), wish.ended(-run.log_likelihood), np.array(cycles.errlog)


def _run(mix: Mix, start: Gaussians, rows: Rows, wish: Options, cycles: Cycles) -> Run:
    middle = np.average(mix.centres, axis=0)
    setting = Precision(
        (rows.points,), rows.engine, len(rows), 0.0, wish.error_precision, middle, 0.0 * middle
    )
    ones = np.ones(mix.nin)
    reset = Reset(_EPS, ones, initial=start.covariances)
    floor = reset if wish.switch else NoFloor(0.0, ones)
    rules = Rules(mix.form, floor, groups=(mix.ncentres,))
    # No component is ever taken for dead: Netlab has no rule for that.
    repair = Repair(False, (0.0,), middle, 0)
    try:
        # One without any row has no covariance: 0 / 0, which the floor finds.
        with np.errstate(invalid="ignore", divide="ignore"):
            return em(setting, start, rules, cycles, repair, lambda model: {})
    except np.linalg.LinAlgError:
        advice = "" if wish.switch else "set options[4] = 1, which resets such covariances, or "
        raise ValueError(
            f"in cycle {cycles.count} a component has collapsed, its covariance is no longer "
            f"positive: {advice}use fewer centres or a simpler covar_type, or rescale x"
        ) from None


class Cycles(Steps):
    """The steps of a run, which keep and show the error of each."""

    __slots__ = ("errlog", "wish")

    def __init__(self, wish: Options) -> None:
        super().__init__(None, wish.cycles, name="EM")
        self.wish = wish
        self.errlog: list[float] = []

    def record(self, **values: Any) -> None:
        """Keep the error of the cycle begun last."""
        error = -float(values["log_likelihood"])
        self.errlog.append(error)
        self.wish.show(len(self.errlog), error)

    def end(self, **values: Any) -> None:
        """Keep the error that a run ended with early: Netlab finds it in one cycle more."""
        if len(self.errlog) < self.wish.cycles:
            self.record(**values)


class Precision(Setting):
    """The setting of a run that ends by the absolute change of the error, ``tol``."""

    __slots__ = ()

    def rests(self, objective: float, before: float) -> bool:
        """Whether the error has changed by less than the precision asked for."""
        return abs(objective - before) < self.tol

    def falls(self, objective: float, before: float) -> bool:
        """Netlab goes on where a reset has raised the error."""
        return False


class NoFloor(Floor):
    """Covariances are left to themselves."""

    __slots__ = ()

    def hold(self, covariances: Array) -> tuple[Array, Array]:
        """The same covariances; what is no number counts as zero, which no component can have."""
        none = np.zeros(len(covariances), bool)
        return np.where(np.isfinite(covariances), covariances, 0.0), none


@dataclass(frozen=True, slots=True)
class Reset(Floor):
    """A covariance that falls below the floor in any direction is the initial one again.

    Parameters
    ----------
    initial : ndarray of shape (k, d, d) or (k, d)
    """

    initial: Array = field(default_factory=lambda: np.empty(0))

    def hold(self, covariances: Array) -> tuple[Array, Array]:
        """The covariances, reset where needed, and which components were."""
        low = ~(_least(covariances) >= self.share)
        wide = low.reshape(-1, *[1] * (covariances.ndim - 1))
        return np.where(wide, self.initial, covariances), low


def _least(covariances: Array) -> Array:
    """The least variance of each component in any direction; NaN where there is none."""
    if covariances.ndim == 2:
        least: Array = covariances.min(axis=1)
        return least
    known = np.isfinite(covariances).all(axis=(1, 2))
    least = np.full(len(covariances), np.nan)
    least[known] = np.linalg.eigvalsh(covariances[known])[:, 0]
    return least
