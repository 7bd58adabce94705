"""Naive losses of gradient boosting: values, derivatives, initial scores, leaf values.

``F`` holds raw scores of shape (n, K): K = 1, or one column per class of ``log_loss`` with more
than two classes, or one column per target if ``y`` has shape (n, K). Classes are class indices.
A custom loss is an object with ``gradient(y, raw)`` and ``hessian(y, raw)``.
"""

from __future__ import annotations

import math

import numpy as np

CLASSIFICATION = ("log_loss", "exponential")
LOG_MEAN = ("poisson", "gamma", "tweedie")
QUANTILES = ("absolute_error", "quantile")


def as_columns(y):
    """Return the target with shape (n, 1), or (n, K) if it has K columns."""
    return np.asarray(y, dtype=float).reshape(len(y), -1)


def n_scores(loss, y):
    if loss == "log_loss" and np.max(y) > 1:
        return int(np.max(y)) + 1
    return as_columns(y).shape[1]


def one_hot(y, n_classes):
    return np.array([[float(label == k) for k in range(n_classes)] for label in y])


def sigmoid(F):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-F))


def softmax(F):
    exponentials = np.exp(F - F.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


# Quantiles


def weighted_quantile(values, weight, alpha):
    """Return the smallest value whose cumulated weight reaches alpha times the total weight.

    If it is reached exactly, the mean of that value and the next one. Rows of weight 0 have no
    part in it; the quantile of no rows is 0.
    """
    order = [i for i in np.argsort(values, kind="stable") if weight[i] > 0]
    total = math.fsum(weight[i] for i in order)
    cumulated = 0.0
    for position, i in enumerate(order):
        cumulated += weight[i]
        last = position == len(order) - 1
        if cumulated == alpha * total and not last:
            return (values[i] + values[order[position + 1]]) / 2
        if cumulated >= alpha * total or last:
            return float(values[i])
    return 0.0


def quantile_of(loss, alpha):
    """Return the quantile that minimizes the loss."""
    return alpha if loss == "quantile" else 0.5


def huber_delta(y, F, weight, alpha):
    """Return the weighted alpha-quantile of the absolute residuals, one per column."""
    residuals = np.abs(as_columns(y) - F)
    return np.array([weighted_quantile(column, weight, alpha) for column in residuals.T])


# Losses and their derivatives, per row and score, without sample weights


def loss_value(loss, y, F, weight=None, *, alpha=0.9, power=1.5, delta=None):
    """Return the weighted sum of the loss over all rows."""
    weight = np.ones(len(y)) if weight is None else weight
    values = row_losses(loss, y, F, alpha, power, delta)
    return math.fsum(w * value for w, value in zip(weight, values, strict=True))


def row_losses(loss, y, F, alpha, power, delta):
    if loss == "log_loss" and F.shape[1] > 1:
        logs = np.log(softmax(F))
        return np.array([-logs[i, int(label)] for i, label in enumerate(y)])
    Y = as_columns(y)
    R = Y - F
    if loss == "log_loss":
        values = np.log(1 + np.exp(F)) - Y * F
    elif loss == "exponential":
        values = np.exp(-(2 * Y - 1) * F)
    elif loss == "squared_error":
        values = R**2 / 2
    elif loss == "absolute_error":
        values = np.abs(R)
    elif loss == "quantile":
        values = np.where(R > 0, alpha * R, (alpha - 1) * R)
    elif loss == "huber":
        values = np.where(np.abs(R) <= delta, R**2 / 2, delta * (np.abs(R) - delta / 2))
    elif loss == "poisson":
        values = np.exp(F) - Y * F
    elif loss == "gamma":
        values = F + Y * np.exp(-F)
    elif loss == "tweedie":
        a, b = 2 - power, 1 - power
        values = np.exp(a * F) / a - Y * np.exp(b * F) / b
    else:
        raise ValueError(f"loss must be the name of a loss, got {loss!r}.")
    return values.sum(axis=1)


def gradient(loss, y, F, *, alpha=0.9, power=1.5, delta=None):
    """Return the derivative of the loss by every score, of shape (n, K)."""
    if not isinstance(loss, str):
        return custom_derivative(loss.gradient, y, F)
    if loss == "log_loss" and F.shape[1] > 1:
        return softmax(F) - one_hot(y, F.shape[1])
    Y = as_columns(y)
    if loss == "log_loss":
        return sigmoid(F) - Y
    if loss == "exponential":
        S = 2 * Y - 1
        return -S * np.exp(-S * F)
    if loss == "squared_error":
        return F - Y
    if loss == "absolute_error":
        return np.sign(F - Y)
    if loss == "quantile":
        return np.where(F < Y, -alpha, np.where(F > Y, 1 - alpha, 0.0))
    if loss == "huber":
        return np.clip(F - Y, -delta, delta)
    if loss == "poisson":
        return np.exp(F) - Y
    if loss == "gamma":
        return 1 - Y * np.exp(-F)
    if loss == "tweedie":
        return np.exp((2 - power) * F) - Y * np.exp((1 - power) * F)
    raise ValueError(f"loss must be the name of a loss, got {loss!r}.")


def hessian(loss, y, F, *, power=1.5):
    """Return the second derivative by every score: 1 where it is 0 or not continuous.

    With K > 2 classes the diagonal of the Hessian matrix is multiplied by K / (K - 1).
    """
    if not isinstance(loss, str):
        return custom_derivative(loss.hessian, y, F)
    if loss == "log_loss" and F.shape[1] > 1:
        P, K = softmax(F), F.shape[1]
        return K / (K - 1) * P * (1 - P)
    Y = as_columns(y)
    if loss == "log_loss":
        P = sigmoid(F)
        return P * (1 - P)
    if loss == "exponential":
        return np.exp(-(2 * Y - 1) * F)
    if loss == "poisson":
        return np.exp(F)
    if loss == "gamma":
        return Y * np.exp(-F)
    if loss == "tweedie":
        a, b = 2 - power, 1 - power
        return a * np.exp(a * F) - b * Y * np.exp(b * F)
    return np.ones_like(F)


def custom_derivative(function, y, F):
    """Call a function of a custom loss: with one score, on a vector of scores."""
    raw = F[:, 0] if F.shape[1] == 1 else F
    return np.asarray(function(y, raw), dtype=float).reshape(F.shape)


# Initial scores


def initial_scores(loss, y, weight, *, alpha=0.9):
    """Return the constant scores of shape (K,) from which boosting starts."""
    if not isinstance(loss, str):
        init = getattr(loss, "init", None)
        return np.zeros(1) if init is None else np.atleast_1d(init(y, weight)).astype(float)
    if loss == "log_loss" and n_scores(loss, y) > 1:
        logs = np.log(weighted_mean(one_hot(y, n_scores(loss, y)), weight))
        return logs - logs.mean()
    Y = as_columns(y)
    mean = weighted_mean(Y, weight)
    if loss == "log_loss":
        return np.log(mean / (1 - mean))
    if loss == "exponential":
        return np.log(mean / (1 - mean)) / 2
    if loss in LOG_MEAN:
        return np.log(mean)
    if loss == "squared_error":
        return mean
    probability = quantile_of(loss, alpha)
    return np.array([weighted_quantile(column, weight, probability) for column in Y.T])


def weighted_mean(Y, weight):
    total = math.fsum(weight)
    return np.array([math.fsum(weight * column) / total for column in Y.T])


# Leaf values


def ratio(numerator, denominator):
    return numerator / denominator if denominator != 0 else 0.0


def soft_threshold(G, reg_alpha):
    """Return sign(G) max(|G| - reg_alpha, 0)."""
    return math.copysign(max(abs(G) - reg_alpha, 0.0), G)


def newton_value(G, H, reg_lambda=0.0, reg_alpha=0.0):
    return -ratio(soft_threshold(G, reg_alpha), H + reg_lambda)


def solved_value(loss, y, F, weight, alpha):
    """Return the weighted quantile of the residuals, which minimizes the loss in a leaf."""
    return weighted_quantile(y - F, weight, quantile_of(loss, alpha))


def line_search(loss, y, F, weight, g, h, *, alpha=0.9, power=1.5, delta=None):
    """Return the leaf value of Friedman (2001) for one score of the rows of a leaf.

    ``y``, ``F``, ``g``, ``h`` and ``weight`` are vectors; ``g`` and ``h`` are multiplied by the
    weights. For classes of ``log_loss`` and ``exponential``, and for a custom loss, it is one
    Newton step.
    """
    if loss == "squared_error":
        return ratio(math.fsum(weight * (y - F)), math.fsum(weight))
    if loss in QUANTILES:
        return solved_value(loss, y, F, weight, alpha)
    if loss == "huber":
        residuals = y - F
        median = weighted_quantile(residuals, weight, 0.5)
        rest = residuals - median
        clipped = np.sign(rest) * np.minimum(delta, np.abs(rest))
        return median + ratio(math.fsum(weight * clipped), math.fsum(weight))
    if loss in LOG_MEAN:
        q = {"poisson": 1.0, "gamma": 2.0, "tweedie": power}[loss]
        observed = math.fsum(weight * y * np.exp((1 - q) * F))
        expected = math.fsum(weight * np.exp((2 - q) * F))
        if observed > 0:
            return math.log(observed / expected)
    return newton_value(math.fsum(g), math.fsum(h))
