"""Draw reliability curves: predicted probabilities against frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.experiments import Comparison, Predictions, compute_scores
from ceiba.inference import wilson
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.experiments.results import (
    add_missing,
    check_classification,
    label_index,
    name_text,
    plain_legend,
    pooled_probabilities,
)
from ceiba.plots.models import check_one_target, is_fitted, model_error
from ceiba.plots.networks.view import named_models
from ceiba.plots.planes.section import class_codes

_MAX_INTERVALS = 4  # models up to which intervals are drawn


@dataclass(frozen=True, eq=False)
class _Reliability:
    """Predictions in bins of probability."""

    mean: Array  # of the predictions of each bin that has some
    frequency: Array  # of the class
    count: Array
    counts: Array  # of all bins

    @classmethod
    def of(cls, rows: Predictions, label: Any, n_bins: int) -> _Reliability:
        """Compare the probabilities of a class, or of all of them, with its frequency."""
        predicted = rows.probabilities
        is_class = np.arange(predicted.shape[1]) == rows.true_codes[:, None]
        chosen = label_index(rows.classes, label)
        if chosen is not None:
            predicted, is_class = predicted[:, chosen], is_class[:, chosen]
        predicted, is_class = predicted.ravel(), is_class.ravel()
        bins = np.minimum((predicted * n_bins).astype(int), n_bins - 1)
        counts = np.bincount(bins, minlength=n_bins)
        used = counts > 0
        sums = [np.bincount(bins, values, n_bins)[used] for values in (predicted, is_class)]
        mean, frequency = (values / counts[used] for values in sums)
        return cls(mean, frequency, counts[used], counts)

    def intervals(self) -> tuple[Array, Array]:
        """Return the distances of Wilson's confidence interval from each frequency."""
        found = [
            wilson(round(frequency * count), int(count))
            for frequency, count in zip(self.frequency, self.count, strict=True)
        ]
        lower, upper = np.array([(interval.lower, interval.upper) for interval in found]).T
        return np.maximum(self.frequency - lower, 0), np.maximum(upper - self.frequency, 0)


@documented
def calibration(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    dataset: str | None = None,
    label: Any = None,
    n_bins: int = 10,
    figure: Any = None,
) -> Any:
    """Draw how often a class occurs among rows for which a probability is predicted.

    The predictions of a calibrated model lie on the diagonal. A curve that is flatter is that of
    an overconfident model, such as naive Bayes with columns that repeat each other; discriminative
    training corrects it. Markers are the larger, the more predictions their bin has; bars are 95%
    confidence intervals, of up to four models. The lower panel has the number of predictions in
    each bin. The legend has the scores ``log_loss`` and ``calibration_error``.

    Parameters
    ----------
    model : Comparison, fitted classifier, or mapping from names to fitted classifiers
        The learners of a comparison are drawn from the pooled test rows of all folds. Others are
        any classifiers with ``predict_proba``, of the same classes.
    X : array, frame or table of shape (n_rows, n_columns)
        Rows that were not in training; required for classifiers, and not for a comparison.
    y : array of shape (n_rows,)
        Classes of the rows.
    dataset : str, optional
        Name of a dataset of the comparison; not necessary if there is one.
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

    All learners of a comparison:

    >>> from ceiba.experiments import compare
    >>> learners = {"ml": NaiveBayesClassifier(), "tm": NaiveBayesClassifier(training="tm")}
    >>> results = compare(learners, "vote", protocol="3-fold")
    >>> plots.calibration(results).axes[0].get_title(loc="right")
    '435 predictions'

    References
    ----------
    DeGroot & Fienberg (1983), "The comparison and evaluation of forecasters", The Statistician 32.
    """
    if n_bins < 2:
        raise ValueError(f"n_bins must be at least 2, got {n_bins}.")
    rows, reasons = _rows(model, X, y, dataset)
    curves = [_Reliability.of(one, label, n_bins) for one in rows.values()]
    figure = figure or style.new_figure(5.6, 6.2 + 0.2 * (len(rows) + len(reasons)))
    upper, lower = figure.subplots(2, 1, height_ratios=[4, 1])
    upper.plot([0, 1], [0, 1], color=style.MUTED, linewidth=0.9, linestyle=(0, (4, 2)), zorder=1)
    for index, ((name, one), curve) in enumerate(zip(rows.items(), curves, strict=True)):
        text = f"{name}: {_scores_text(one)}"
        _draw_curve(upper, index, text, curve, with_intervals=len(curves) <= _MAX_INTERVALS)
        lower.stairs(
            curve.counts, np.linspace(0, 1, n_bins + 1), color=style.color_of(index),
            linewidth=1.5,
        )  # fmt: skip
    add_missing(upper, reasons)
    classes = next(iter(rows.values())).classes
    chosen = label_index(classes, label)
    shown = "each class" if chosen is None else style.shorten(classes[chosen])
    n_rows = int(curves[0].counts.sum())
    style.style_axes(
        upper, x=f"predicted probability of {shown}",
        y=f"fraction of rows of {shown}", grid="both",
    )  # fmt: skip
    style.set_title(upper, _title(model, dataset), parse_math=False)
    style.set_note(upper, style.count_text(n_rows, "prediction"))
    style.style_axes(lower, y="predictions", grid="y")
    for ax in (upper, lower):
        ax.set_xlim(-0.02, 1.02)
    upper.set_ylim(-0.02, 1.02)
    handles = upper.get_legend_handles_labels()
    legend = figure.legend(*handles, loc="outside lower left", markerscale=0.7, **style.LEGEND)
    plain_legend(legend)
    return upper.figure


def _rows(
    model: Any, X: Any, y: Any, dataset: str | None
) -> tuple[dict[str, Predictions], dict[str, str]]:
    """Return the rows of each model, and why some learners of a comparison have none."""
    if isinstance(model, Comparison):
        if X is not None or y is not None:
            raise ValueError("X and y have no effect with a comparison, which has its test rows.")
        check_classification(model)
        pooled, reasons = pooled_probabilities(model, model.dataset_name(dataset))
        return {name_text(name): rows for name, rows in pooled.items()}, reasons
    models = {name: _check(one) for name, one in named_models(model, "model").items()}
    if dataset is not None:
        raise ValueError(f"dataset has no effect without a comparison, got {dataset!r}.")
    if X is None or y is None:
        raise ValueError("X and y are required with fitted classifiers, got None.")
    return {name: _predict(one, X, y) for name, one in models.items()}, {}


def _scores_text(rows: Predictions) -> str:
    scores = compute_scores(rows, ["log_loss", "calibration_error"])
    loss, error = (score.value for score in scores.values())
    return f"log-loss {loss:.3f}, calibration error {error:.3f}"


def _title(model: Any, dataset: str | None) -> str:
    if not isinstance(model, Comparison):
        return "Calibration"
    return f"Calibration, {name_text(model.dataset_name(dataset))}"


def _check(model: Any) -> Any:
    is_classifier = hasattr(model, "predict_proba") and hasattr(type(model), "fit")
    if not is_classifier or not is_fitted(model) or not hasattr(model, "classes_"):
        expected = "a Comparison, or a fitted classifier with predict_proba"
        raise model_error("model", expected, model)
    check_one_target(getattr(model, "n_outputs_", 1))
    return model


def _predict(model: Any, X: Any, y: Any) -> Predictions:
    probabilities = np.asarray(model.predict_proba(X), float)
    codes = class_codes(model, y, len(probabilities))
    classes = np.asarray(model.classes_)
    predicted = classes[probabilities.argmax(axis=1)]
    return Predictions(classes[codes], predicted, probabilities, classes)


def _draw_curve(
    ax: Any, index: int, label: str, curve: _Reliability, *, with_intervals: bool
) -> None:
    """Draw the reliability curve of a model, with its intervals if they can be distinguished."""
    color = style.color_of(index)
    if with_intervals:
        ax.errorbar(
            curve.mean, curve.frequency, yerr=curve.intervals(),
            fmt="none", ecolor=color, elinewidth=1.0, capsize=2.5, alpha=0.5, zorder=2,
        )  # fmt: skip
    ax.plot(curve.mean, curve.frequency, color=color, linewidth=1.2, alpha=0.6, zorder=3)
    ax.scatter(
        curve.mean, curve.frequency, s=12 + 100 * curve.count / curve.count.max(), color=color,
        marker=style.MARKERS[index % len(style.MARKERS)], zorder=4,
        label=label,
    )  # fmt: skip
