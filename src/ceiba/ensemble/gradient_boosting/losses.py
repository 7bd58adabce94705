"""Losses of gradient boosting: gradients, Hessians, first scores and line searches.

A loss is a function of the target and the raw scores F, of shape (n_outputs, n_rows). Two classes
and numbers have one output, K > 2 classes one per class. Gradients g and Hessians h are derivatives
with respect to F, multiplied by the weights.

    loss             value of one row                   g                h
    log_loss, K = 2  log(1 + exp(F)) - y F              p - y            p (1 - p)
    log_loss, K > 2  log sum exp(F_k) - F_y             p_k - y_k        K / (K - 1) p_k (1 - p_k)
    exponential      exp(-s F), s = 2 y - 1             -s exp(-s F)     exp(-s F)
    squared_error    (y - F)^2 / 2                      F - y            1
    absolute_error   |y - F|                            sign(F - y)      1
    quantile         (alpha - [y < F]) (y - F)          -alpha, 1-alpha  1
    huber            squared up to delta, then linear   clip(F - y)      1
    poisson          exp(F) - y F                       exp(F) - y       exp(F)
    gamma            F + y exp(-F)                      1 - y exp(-F)    y exp(-F)
    tweedie          power q between 1 and 2, F = log of the mean

Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of Statistics
29. Friedman, Hastie & Tibshirani (2000), "Additive logistic regression: a statistical view of
boosting", Annals of Statistics 28.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, logsumexp, softmax, xlogy

from ceiba import _native
from ceiba._typing import Array
from ceiba.base.value_types import format_value

# exp(F) of a larger score would overflow when it is squared.
_MAX_EXPONENT = 350.0
# Means of log-link losses beyond this, or below its inverse, are too close to exp(_MAX_EXPONENT).
_MAX_MEAN = 1e140
# Gains are squares of gradients: those of targets up to this do not overflow.
_MAX_TARGET = 1e100
# Sums and differences of larger targets would overflow.
_MAX_SIZE = 1e300


def weighted_mean(values: Array, weight: Array | None) -> float:
    """Return the weighted mean."""
    if weight is not None:  # products of large values and weights would overflow
        weight = weight / 2.0 ** np.frexp(weight.max())[1]
    return float(np.average(values, weights=weight))


def weighted_quantile(values: Array, weight: Array | None, probability: float) -> float:
    """Return the weighted quantile, the "averaged inverted CDF": for 0.5 the median."""
    order = np.argsort(values, kind="stable")
    cumulative = np.arange(1.0, len(values) + 1) if weight is None else np.cumsum(weight[order])
    wanted = probability * cumulative[-1]
    index = min(int(np.searchsorted(cumulative, wanted)), len(values) - 1)
    value = values[order[index]]
    if cumulative[index] == wanted and index + 1 < len(values):
        value += (values[order[index + 1]] - value) / 2
    return float(value)


class Loss:
    """Base of losses with one output; a subclass defines what differs.

    Parameters
    ----------
    y : ndarray of float64 of shape (n_rows,)
        Numbers, or class indices.
    weight : ndarray of shape (n_rows,) or None
        Positive weights.
    """

    n_outputs = 1
    # Whether all Hessians equal the weights: they need not be computed then.
    constant_hessian: ClassVar[bool] = False
    # Leaf values are this quantile of the residuals; None for Newton steps.
    leaf_quantile: float | None = None
    # Whether `line_search` differs from one Newton step.
    searches_lines: ClassVar[bool] = False
    # Threshold of the first round by which later losses are computed (Huber), else None.
    first_delta: float | None = None
    # Whether `values` can be computed; a loss of the user may lack them.
    has_values: bool = True
    # Gradients are divided by this power of two, and Newton steps multiplied by it.
    unit: float = 1.0

    def __init__(self, y: Array, weight: Array | None, threads: int = 1) -> None:
        self.y = y
        self.weight = weight
        self.threads = threads

    def check_domain(self, y: Array, row_number: Any, name: str = "y") -> None:
        """Raise ValueError if a target is outside of the loss's domain."""
        size = np.abs(y)
        if size.max() > _MAX_SIZE:
            row = int(size.argmax())
            raise ValueError(
                f"{name} must be in [{-_MAX_SIZE:g}, {_MAX_SIZE:g}], got {y[row]:g} in row "
                f"{row_number(row)}: scale {name}."
            )

    def check_target(self, row_number: Any) -> None:
        """Raise ValueError if the target of training is outside of the loss's domain."""
        self.check_domain(self.y, row_number)

    def first_scores(self) -> Array:
        """Return the constant scores of smallest loss, of shape (n_outputs,)."""
        raise NotImplementedError

    def gradients(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        """Write weighted gradients and Hessians, of shape (n_outputs, n_rows)."""
        self._derivatives(raw[0], gradient[0], None if hessian is None else hessian[0])
        if self.weight is not None:
            gradient *= self.weight
            if hessian is not None:
                hessian *= self.weight

    def _derivatives(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        raise NotImplementedError

    def prepare_values(self, raw: Array) -> None:
        """Set what `values` needs, from the raw scores before the first round; by default nothing.

        Without it Huber's threshold is set by the gradients of the first round.
        """

    def values(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row, of shape (n_rows,)."""
        raise NotImplementedError

    def mean(self, y: Array, raw: Array, weight: Array | None) -> float:
        """Return the weighted mean loss."""
        return weighted_mean(self.values(y, raw), weight)

    def line_search(
        self, grower: _native.BoostingGrower, raw: Array, gradient: Array, hessian: Array | None,
        weight: Array | None,
    ) -> Array:  # fmt: skip
        """Return the values of smallest loss in each leaf, of shape (n_leaves, n_outputs).

        ``weight`` are the weights of the round, which with one-side sampling differ from those of
        the rows. By default one Newton step.
        """
        if self.leaf_quantile is not None:
            residual = self.y - raw[0]
            return grower.leaf_quantiles(residual, weight, self.leaf_quantile)[:, None]
        return np.asarray(grower.newton_values(gradient, hessian, weight)) * self.unit

    def newton_steps(
        self, grower: _native.BoostingGrower, raw: Array, gradient: Array, hessian: Array | None,
        weight: Array | None, rate: float,
    ) -> Array:  # fmt: skip
        """Return the regularized Newton steps of the leaves, of shape (n_leaves, n_outputs)."""
        steps = grower.newton_values(gradient, hessian, weight, as_grown=True)
        return np.asarray(steps) * self.unit


class BinomialLogLoss(Loss):
    """Log-loss of two classes; the raw score is the log-odds of the second one."""

    def first_scores(self) -> Array:
        """Return the constant score of smallest loss."""
        return np.array([_log_odds(self.y, self.weight)])

    def gradients(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        """Write weighted gradients and Hessians."""
        assert hessian is not None
        _native.logistic_gradients(
            self.y, raw[0], self.weight, gradient[0], hessian[0], self.threads
        )

    def values(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        return np.asarray(np.logaddexp(0.0, raw[0]) - y * raw[0])

    @staticmethod
    def probabilities(raw: Array) -> Array:
        """Return class probabilities from raw scores of shape (n_rows, 1)."""
        second = expit(raw[:, 0])
        return np.stack([expit(-raw[:, 0]), second], axis=1)


class MultinomialLogLoss(Loss):
    """Log-loss of three or more classes; probabilities are the softmax of the scores."""

    def __init__(self, y: Array, weight: Array | None, threads: int = 1, *, n_classes: int) -> None:
        super().__init__(y, weight, threads)
        self.n_outputs = n_classes
        self._labels = y.astype(np.int32)

    def first_scores(self) -> Array:
        """Return the centered logarithms of the class frequencies."""
        totals = np.bincount(self._labels, self.weight, minlength=self.n_outputs)
        # A class without rows has the score of a thousandth of the smallest class.
        logs = np.log(np.maximum(totals, 1e-3 * totals[totals > 0].min()) / totals.sum())
        return np.asarray(logs - logs.mean())

    def gradients(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        """Write weighted gradients and Hessians."""
        assert hessian is not None
        _native.softmax_gradients(self._labels, raw, self.weight, gradient, hessian, self.threads)

    def values(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        chosen = raw[y.astype(np.intp), np.arange(raw.shape[1])]
        return np.asarray(logsumexp(raw, axis=0) - chosen)

    @staticmethod
    def probabilities(raw: Array) -> Array:
        """Return class probabilities from raw scores of shape (n_rows, n_classes)."""
        return np.asarray(softmax(raw, axis=1))


class Exponential(Loss):
    """Exponential loss of two classes (AdaBoost); the score is half the log-odds."""

    def first_scores(self) -> Array:
        """Return the constant score of smallest loss."""
        return np.array([_log_odds(self.y, self.weight) / 2])

    def _derivatives(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        assert hessian is not None
        sign = 2 * self.y - 1
        np.exp(np.minimum(-sign * raw, _MAX_EXPONENT), out=hessian)
        np.multiply(-sign, hessian, out=gradient)

    def values(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        return np.asarray(np.exp(np.minimum((1 - 2 * y) * raw[0], _MAX_EXPONENT)))

    @staticmethod
    def probabilities(raw: Array) -> Array:
        """Return class probabilities from raw scores of shape (n_rows, 1)."""
        return BinomialLogLoss.probabilities(2 * raw)


class SquaredError(Loss):
    """Half the squared error, in units squared."""

    constant_hessian = True

    def __init__(self, y: Array, weight: Array | None, threads: int = 1) -> None:
        super().__init__(y, weight, threads)
        self.unit = _unit_of(y)

    def first_scores(self) -> Array:
        """Return the constant score of smallest loss."""
        return np.array([weighted_mean(self.y, self.weight)])

    def _derivatives(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        np.subtract(raw, self.y, out=gradient)
        if self.unit != 1:
            gradient /= self.unit

    def values(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        return np.asarray(((y - raw[0]) / self.unit) ** 2 / 2)


class Quantile(Loss):
    """Pinball loss; leaf values are quantiles of the residuals."""

    constant_hessian = True

    def __init__(self, y: Array, weight: Array | None, threads: int = 1, *, alpha: float) -> None:
        super().__init__(y, weight, threads)
        self.leaf_quantile = alpha

    def first_scores(self) -> Array:
        """Return the constant score of smallest loss."""
        assert self.leaf_quantile is not None
        return np.array([weighted_quantile(self.y, self.weight, self.leaf_quantile)])

    def _derivatives(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        alpha = self.leaf_quantile
        assert alpha is not None
        gradient[:] = np.select([raw < self.y, raw > self.y], [-alpha, 1 - alpha], 0.0)

    def values(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        alpha, residual = self.leaf_quantile, y - raw[0]
        assert alpha is not None
        return np.asarray(np.maximum(alpha * residual, (alpha - 1) * residual))


class AbsoluteError(Quantile):
    """Absolute error: twice the pinball loss of the median."""

    def __init__(self, y: Array, weight: Array | None, threads: int = 1) -> None:
        super().__init__(y, weight, threads, alpha=0.5)

    def _derivatives(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        np.sign(raw - self.y, out=gradient)

    def values(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        return np.asarray(np.abs(y - raw[0]))


class Huber(Loss):
    """Squared error up to delta, linear beyond; delta is a quantile of the residuals.

    ``delta`` is the ``alpha`` quantile of the absolute residuals, computed anew in each round.
    Values of the loss are those of the first delta: as delta shrinks while the fit improves, those
    of the current one would decrease in every round, and early stopping would never stop.
    """

    constant_hessian = True
    searches_lines = True

    def __init__(self, y: Array, weight: Array | None, threads: int = 1, *, alpha: float) -> None:
        super().__init__(y, weight, threads)
        self.alpha = alpha
        self.unit = _unit_of(y)
        self.delta = np.inf  # in units

    def first_scores(self) -> Array:
        """Return the constant score of smallest loss."""
        return np.array([weighted_quantile(self.y, self.weight, 0.5)])

    def prepare_values(self, raw: Array) -> None:
        """Set the threshold of the loss's values."""
        self._set_delta((raw[0] - self.y) / self.unit)

    def _set_delta(self, residual: Array) -> None:
        self.delta = weighted_quantile(np.abs(residual), self.weight, self.alpha)
        if self.first_delta is None:
            self.first_delta = self.delta

    def _derivatives(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        residual = (raw - self.y) / self.unit
        self._set_delta(residual)
        np.clip(residual, -self.delta, self.delta, out=gradient)

    def values(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        size, delta = np.abs(y - raw[0]) / self.unit, self.first_delta
        if delta is None:
            return np.asarray(size**2 / 2)
        return np.asarray(np.where(size <= delta, size**2 / 2, delta * (size - delta / 2)))

    def line_search(
        self, grower: _native.BoostingGrower, raw: Array, gradient: Array, hessian: Array | None,
        weight: Array | None,
    ) -> Array:  # fmt: skip
        """Return the median of each leaf plus the mean of the clipped residuals about it."""
        residual = (self.y - raw[0]) / self.unit
        median = grower.leaf_quantiles(residual, weight, 0.5)[:, None]
        shifted = np.zeros((1, len(residual)))
        grower.add_values(median, shifted)
        about = np.clip(residual - shifted, -self.delta, self.delta)
        about = about if weight is None else about * weight
        sums = grower.leaf_sums(about, None, weight)[:, 0]
        return np.asarray(median + (sums[:, 0] / sums[:, 1])[:, None]) * self.unit


class _LogLink(Loss):
    """Base of losses of positive means, whose logarithm is the score."""

    searches_lines = True
    _name: ClassVar[str]
    _allows_zero: ClassVar[bool] = True

    def check_domain(self, y: Array, row_number: Any, name: str = "y") -> None:
        """Raise ValueError if a target is outside of the loss's domain."""
        wrong = y < 0 if self._allows_zero else y <= 0
        if wrong.any():
            row = int(wrong.argmax())
            limit = "not negative" if self._allows_zero else "positive"
            raise ValueError(
                f"loss={self._name!r} requires that {name} is {limit}, got {y[row]:g} in row "
                f"{row_number(row)}."
            )
        positive = y[y > 0]
        if len(positive) and not 1 / _MAX_MEAN <= positive.min() <= positive.max() <= _MAX_MEAN:
            raise ValueError(
                f"loss={self._name!r} requires that {name} is zero or in [{1 / _MAX_MEAN:g}, "
                f"{_MAX_MEAN:g}], got {positive.min():g} to {positive.max():g}: scale {name}."
            )

    def check_target(self, row_number: Any) -> None:
        """Raise ValueError if the target of training is outside of the loss's domain."""
        super().check_target(row_number)
        if not self.y.any():
            raise ValueError(f"loss={self._name!r} requires that some y is positive, got zeros.")

    def first_scores(self) -> Array:
        """Return the constant score of smallest loss."""
        return np.array([np.log(weighted_mean(self.y, self.weight))])

    def _terms(self, raw: Array) -> tuple[Array, Array]:
        """Return the parts of the gradient that decrease and increase the mean."""
        raise NotImplementedError

    def line_search(
        self, grower: _native.BoostingGrower, raw: Array, gradient: Array, hessian: Array | None,
        weight: Array | None,
    ) -> Array:  # fmt: skip
        """Return the logarithm by which the mean of each leaf must grow."""
        decrease, increase = self._terms(raw[0])
        if weight is not None:
            decrease, increase = decrease * weight, increase * weight
        sums = grower.leaf_sums(increase[None], decrease[None])[:, 0]
        # A leaf of zeros has no finite value of smallest loss.
        values = np.array(grower.newton_values(gradient, hessian, weight)[:, 0])
        solved = (sums > 0).all(axis=1)
        values[solved] = np.log(sums[solved, 0]) - np.log(sums[solved, 1])
        return values[:, None]

    def newton_steps(
        self, grower: _native.BoostingGrower, raw: Array, gradient: Array, hessian: Array | None,
        weight: Array | None, rate: float,
    ) -> Array:  # fmt: skip
        """Return Newton steps that, times the learning rate, go at most to the minimum.

        The curvature changes by orders of magnitude between small and large means: with gamma,
        steps of the default rate diverged where targets differed by a factor of a thousand.
        """
        steps = super().newton_steps(grower, raw, gradient, hessian, weight, rate)
        best = self.line_search(grower, raw, gradient, hessian, weight) / rate
        return np.asarray(np.clip(steps, np.minimum(best, 0.0), np.maximum(best, 0.0)))


class Poisson(_LogLink):
    """Half the Poisson deviance, up to a constant."""

    _name = "poisson"

    def _derivatives(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        mean = np.exp(np.minimum(raw, _MAX_EXPONENT))
        np.subtract(mean, self.y, out=gradient)
        if hessian is not None:
            hessian[:] = mean

    def _terms(self, raw: Array) -> tuple[Array, Array]:
        return np.exp(np.minimum(raw, _MAX_EXPONENT)), self.y

    def values(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        mean = np.exp(np.minimum(raw[0], _MAX_EXPONENT))
        return np.asarray(mean - y * raw[0] + xlogy(y, y) - y)


class Gamma(_LogLink):
    """Half the gamma deviance, up to a constant."""

    _name = "gamma"
    _allows_zero = False

    def _derivatives(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        ratio = self.y * np.exp(np.minimum(-raw, _MAX_EXPONENT))
        np.subtract(1, ratio, out=gradient)
        if hessian is not None:
            hessian[:] = ratio

    def _terms(self, raw: Array) -> tuple[Array, Array]:
        return np.ones_like(raw), self.y * np.exp(np.minimum(-raw, _MAX_EXPONENT))

    def values(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        return np.asarray(raw[0] - np.log(y) - 1 + y * np.exp(np.minimum(-raw[0], _MAX_EXPONENT)))


class Tweedie(_LogLink):
    """Half the Tweedie deviance of a power between 1 and 2, up to a constant."""

    _name = "tweedie"

    def __init__(self, y: Array, weight: Array | None, threads: int = 1, *, power: float) -> None:
        super().__init__(y, weight, threads)
        self.power = power

    def _derivatives(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        decrease, increase = self._terms(raw)
        np.subtract(decrease, increase, out=gradient)
        if hessian is not None:
            hessian[:] = (2 - self.power) * decrease + (self.power - 1) * increase

    def _terms(self, raw: Array) -> tuple[Array, Array]:
        limited = np.clip(raw, -_MAX_EXPONENT, _MAX_EXPONENT)
        return (
            np.exp((2 - self.power) * limited),
            self.y * np.exp((1 - self.power) * limited),
        )

    def values(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        q, score = self.power, np.clip(raw[0], -_MAX_EXPONENT, _MAX_EXPONENT)
        best = np.power(y, 2 - q) / ((1 - q) * (2 - q))
        return np.asarray(
            best - y * np.exp((1 - q) * score) / (1 - q) + np.exp((2 - q) * score) / (2 - q)
        )


class CustomLoss(Loss):
    """A loss of the user: an object with ``gradient(y, raw)`` and ``hessian(y, raw)``.

    Both get whole arrays, once per round. ``init(y, weight)`` may return the first score, 0
    otherwise, and ``loss(y, raw)`` the loss of each row, which early stopping and traces need;
    ``inverse_link(raw)`` may turn scores into predictions.
    """

    def __init__(self, y: Array, weight: Array | None, threads: int = 1, *, loss: Any) -> None:
        super().__init__(y, weight, threads)
        self.loss = loss
        self.has_values = hasattr(loss, "loss")

    def first_scores(self) -> Array:
        """Return the first score of the user's loss, or 0."""
        init = getattr(self.loss, "init", None)
        first = 0.0 if init is None else np.asarray(init(read_only(self.y), self.weight))
        if np.ndim(first) or not np.issubdtype(np.asarray(first).dtype, np.number):
            raise ValueError(f"init of the loss must return a number, got {format_value(first)}.")
        if not np.isfinite(first):
            raise ValueError(f"init of the loss must return a finite number, got {first}.")
        return np.array([float(first)])

    def _derivatives(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        gradient[:] = user_values(self.loss, "gradient", read_only(self.y), read_only(raw))
        if hessian is not None:
            hessian[:] = user_values(self.loss, "hessian", read_only(self.y), read_only(raw))
            if (hessian < 0).any():
                raise ValueError("hessian of the loss must not be negative.")

    def values(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        return user_values(self.loss, "loss", read_only(y), read_only(raw[0]))


def read_only(values: Array) -> Array:
    """Return a view that a function of the user cannot change."""
    view = values.view()
    view.flags.writeable = False
    return view


def user_values(loss: Any, name: str, *arrays: Array) -> Array:
    """Return what a method of the user's loss returns for whole arrays; it must be as long."""
    values = np.asarray(getattr(loss, name)(*arrays), np.float64)
    expected = arrays[0].shape
    if values.shape != expected:
        raise ValueError(
            f"{name} of the loss must return an array of shape {expected}, got {values.shape}."
        )
    if not np.isfinite(values).all():
        raise ValueError(f"{name} of the loss must be finite, got NaN or infinity.")
    return values


def _unit_of(y: Array) -> float:
    """Return 1, or for targets beyond 1e100 or below 1e-100 a power of two of their size."""
    largest = float(np.abs(y).max())
    if largest == 0 or 1 / _MAX_TARGET <= largest <= _MAX_TARGET:
        return 1.0
    return float(2.0 ** np.clip(np.frexp(largest)[1], -1021, 1023))


def _log_odds(y: Array, weight: Array | None) -> float:
    totals = np.bincount(y.astype(np.intp), weight, minlength=2).astype(np.float64)
    # A single class has the odds of half a row of the other.
    totals[totals == 0] = 0.5 * totals.sum() / len(y)
    return float(np.log(totals[1] / totals[0]))
