"""Draw reliability curves: predicted probabilities against frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.models import is_fitted, model_error
from ceiba.plots.networks.view import class_index, named_models
from ceiba.plots.planes.section import class_codes

_Z = 1.959964  # of a confidence level of 95%


@dataclass(frozen=True, eq=False)
class _Reliability:
    """Predictions in bins of probability."""

    mean: Array  # of the predictions of each bin that has some
    frequency: Array  # of the class
    count: Array
    counts: Array  # of all bins
    log_loss: float

    @classmethod
    def of(cls, predicted: Array, is_class: Array, n_bins: int, log_loss: float) -> _Reliability:
        """Divide predictions into bins of equal width."""
        bins = np.minimum((predicted * n_bins).astype(int), n_bins - 1)
        counts = np.bincount(bins, minlength=n_bins)
        used = counts > 0
        sums = [np.bincount(bins, values, n_bins)[used] for values in (predicted, is_class)]
        mean, frequency = (values / counts[used] for values in sums)
        return cls(mean, frequency, counts[used], counts, log_loss)

    @property
    def error(self) -> float:
        """Expected calibration error: mean difference, weighted by the predictions of a bin."""
        weights = self.count / self.count.sum()
        return float(weights @ np.abs(self.mean - self.frequency))

    def interval(self) -> tuple[Array, Array]:
        """Return Wilson's confidence interval of each frequency."""
        n, p = self.count, self.frequency
        center = (p + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
        half = _Z / (1 + _Z**2 / n) * np.sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2))
        return np.minimum(center - half, p), np.maximum(center + half, p)


@documented
def calibration(
    model: Any, X: Any, y: Any, *, label: Any = None, n_bins: int = 10, figure: Any = None
) -> Any:
    """Draw how often a class occurs among rows for which a probability is predicted.

    The predictions of a calibrated model lie on the diagonal. A curve that is flatter is that of
    an overconfident model, such as naive Bayes with columns that repeat each other; discriminative
    training mends it. Markers are the larger, the more predictions their bin has; bars are 95%
    confidence intervals. The lower panel has the number of predictions in each bin. Use rows that
    were not in training. The legend has the log-loss and the expected calibration error.

    Parameters
    ----------
    model : fitted classifier, or mapping from names to fitted classifiers
        Any classifiers with ``predict_proba``, of the same classes.
    X : array, frame or table of shape (n_rows, n_columns)
    y : array of shape (n_rows,)
        Classes of the rows.
    label : object, optional
        The class. By default the second of two classes, and all classes together if there are
        more.
    n_bins : int
        Number of intervals of probability, of equal width.
    {figure}

    {picture}

    Examples
    --------
    >>> from ceiba import NaiveBayesClassifier, datasets, plots
    >>> vote = datasets.load("vote")
    >>> X, y = vote.table, vote.y
    >>> generative = NaiveBayesClassifier().fit(X[:300], y[:300])
    >>> trained = NaiveBayesClassifier(training="tm").fit(X[:300], y[:300])
    >>> models = {"generative": generative, "discriminative": trained}
    >>> picture = plots.calibration(models, X[300:], y[300:])
    >>> picture.axes[0].get_xlabel()
    'predicted probability of republican'

    References
    ----------
    DeGroot & Fienberg (1983), "The comparison and evaluation of forecasters", The Statistician 32.
    """
    if n_bins < 2:
        raise ValueError(f"n_bins must be at least 2, got {n_bins}.")
    models = {name: _check(one) for name, one in named_models(model, "model").items()}
    curves = {name: _reliability(one, X, y, label, n_bins) for name, one in models.items()}
    figure = figure or style.new_figure(5.6, 6.6)
    upper, lower = figure.subplots(2, 1, height_ratios=[4, 1])
    upper.plot([0, 1], [0, 1], color=style.MUTED, linewidth=0.9, linestyle=(0, (4, 2)), zorder=1)
    for index, (name, curve) in enumerate(curves.items()):
        _draw_curve(upper, index, name, curve)
        lower.stairs(
            curve.counts, np.linspace(0, 1, n_bins + 1), color=style.color_of(index),
            linewidth=1.5,
        )  # fmt: skip
    shown = _label_text(next(iter(models.values())), label)
    n_rows = int(next(iter(curves.values())).counts.sum())
    style.style_axes(
        upper, title="Calibration", x=f"predicted probability of {shown}",
        y=f"fraction of rows of {shown}", grid="both",
    )  # fmt: skip
    style.set_note(upper, style.count_text(n_rows, "prediction"))
    style.style_axes(lower, y="predictions", grid="y")
    for ax in (upper, lower):
        ax.set_xlim(-0.02, 1.02)
    upper.set_ylim(-0.02, 1.02)
    handles = upper.get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower left", markerscale=0.7, **style.LEGEND)
    return upper.figure


def _check(model: Any) -> Any:
    is_classifier = hasattr(model, "predict_proba") and hasattr(type(model), "fit")
    if not is_classifier or not is_fitted(model) or not hasattr(model, "classes_"):
        raise model_error("model", "a fitted classifier with predict_proba", model)
    return model


def _reliability(model: Any, X: Any, y: Any, label: Any, n_bins: int) -> _Reliability:
    probability = np.asarray(model.predict_proba(X), float)
    codes = class_codes(model, y, len(probability))
    own = probability[np.arange(len(codes)), codes]
    log_loss = float(-np.log(np.maximum(own, np.finfo(float).eps)).mean())
    is_class = np.arange(probability.shape[1]) == codes[:, None]
    chosen = _label_index(model, label)
    if chosen is not None:
        probability, is_class = probability[:, [chosen]], is_class[:, [chosen]]
    return _Reliability.of(probability.ravel(), is_class.ravel(), n_bins, log_loss)


def _label_index(model: Any, label: Any) -> int | None:
    """Return the index of the class; None for all of them together."""
    if label is not None:
        return class_index(model, label)
    return 1 if len(model.classes_) == 2 else None


def _label_text(model: Any, label: Any) -> str:
    chosen = _label_index(model, label)
    return "each class" if chosen is None else style.shorten(model.classes_[chosen])


def _draw_curve(ax: Any, index: int, name: str, curve: _Reliability) -> None:
    """Draw the reliability curve of a model with its intervals."""
    low, high = curve.interval()
    color = style.color_of(index)
    ax.errorbar(
        curve.mean, curve.frequency, yerr=[curve.frequency - low, high - curve.frequency],
        fmt="none", ecolor=color, elinewidth=1.0, capsize=2.5, alpha=0.5, zorder=2,
    )  # fmt: skip
    ax.plot(curve.mean, curve.frequency, color=color, linewidth=1.2, alpha=0.6, zorder=3)
    ax.scatter(
        curve.mean, curve.frequency, s=12 + 100 * curve.count / curve.count.max(), color=color,
        marker=style.MARKERS[index % len(style.MARKERS)], zorder=4,
        label=f"{name}: log-loss {curve.log_loss:.3f}, calibration error {curve.error:.3f}",
    )  # fmt: skip
