"""The contract of losses, and weighted means and quantiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from ceiba import _native
from ceiba._typing import Array

# How raw scores become predictions. "half_logit": scores are half the log-odds; "custom": by a
# method of the user's loss.
LinkName = Literal["identity", "log", "logit", "half_logit", "softmax", "custom"]

# exp(F) of a larger score would overflow when it is squared.
MAX_EXPONENT = 350.0
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
    target_weight = probability * cumulative[-1]
    index = min(int(np.searchsorted(cumulative, target_weight)), len(values) - 1)
    value = values[order[index]]
    if cumulative[index] == target_weight and index + 1 < len(values):
        value += (values[order[index + 1]] - value) / 2
    return float(value)


class Link(Protocol):
    """The part of a loss that predictions need: a class of losses, or a loss of the user."""

    @property
    def link_name(self) -> LinkName:
        """Return the name of the link."""
        ...

    def link(self, prediction: Array) -> Array:
        """Return the raw scores of predictions."""
        ...

    def inverse_link(self, raw: Array) -> Array:
        """Return the predictions of raw scores."""
        ...


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
    link_name: ClassVar[LinkName] = "identity"
    # Hyper-parameters of the learner that are arguments of the loss.
    parameters: ClassVar[tuple[str, ...]] = ()
    # Whether all Hessians equal the weights: they need not be computed then.
    constant_hessian: ClassVar[bool] = False
    # Leaf values are this quantile of the residuals; None for Newton steps.
    leaf_quantile: float | None = None
    # Whether `line_search` has a method of its own, neither a Newton step nor `leaf_quantile`.
    has_line_search: ClassVar[bool] = False
    # Threshold of the first round by which later losses are computed (Huber), else None.
    first_delta: float | None = None
    # Whether `row_losses` can be computed; a loss of the user may lack the method.
    has_row_losses: bool = True
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

    @staticmethod
    def link(prediction: Array) -> Array:
        """Return the raw scores of predictions, of shape (n_rows, n_outputs).

        Predictions are numbers, or class probabilities of shape (n_rows, n_classes).
        """
        return prediction[:, None]

    @staticmethod
    def inverse_link(raw: Array) -> Array:
        """Return the predictions of raw scores of shape (n_rows, n_outputs)."""
        return np.asarray(raw[:, 0])

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

    def prepare_row_losses(self, raw: Array) -> None:
        """Set what `row_losses` needs, from the raw scores before the first round.

        By default nothing. Without it Huber's threshold is set by the gradients of the first round.
        """

    def row_losses(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row, of shape (n_rows,)."""
        raise NotImplementedError

    def mean(self, y: Array, raw: Array, weight: Array | None) -> float:
        """Return the weighted mean loss."""
        return weighted_mean(self.row_losses(y, raw), weight)

    def line_search(
        self, grower: _native.BoostingGrower, raw: Array, gradient: Array, hessian: Array | None,
        weight: Array | None,
    ) -> Array:  # fmt: skip
        """Return the step of each leaf by a line search, of shape (n_leaves, n_outputs).

        ``weight`` are the weights of the round, which with one-side sampling differ from those of
        the rows. By default a quantile of the residuals, or one Newton step.
        """
        if self.leaf_quantile is not None:
            residual = self.y - raw[0]
            return grower.leaf_quantiles(residual, weight, self.leaf_quantile)[:, None]
        return np.asarray(grower.newton_values(gradient, hessian, weight)) * self.unit

    def newton_steps(
        self, grower: _native.BoostingGrower, raw: Array, gradient: Array, hessian: Array | None,
        weight: Array | None, rate: float, leaf_bounds: Callable[[], Array] | None = None,
    ) -> Array:  # fmt: skip
        """Return the regularized Newton step of each leaf, of shape (n_leaves, n_outputs).

        ``leaf_bounds()`` returns their bounds by monotonic constraints, of shape (n_leaves, 2), for
        losses that change the steps; the steps of the kernel are within them. None: no constraints.
        """
        steps = grower.newton_values(gradient, hessian, weight, as_grown=True)
        return np.asarray(steps) * self.unit
