"""What pictures of experiments take from a comparison, with errors for unknown names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ceiba.experiments import SCORES, Comparison, Predictions, Score, get_score, pool
from ceiba.experiments.results.scores import default_score
from ceiba.plots import style
from ceiba.plots.models import model_error

_MAX_NAME = 32  # characters of the name of a learner or dataset


def check_comparison(given: Any) -> Comparison:
    """Return the comparison; TypeError for anything else."""
    if not isinstance(given, Comparison):
        remedy = None
        if isinstance(getattr(given, "comparison", None), Comparison):
            remedy = "pass its .comparison"
        raise model_error("comparison", "a Comparison, the result of compare", given, remedy)
    return given


def check_score(comparison: Comparison, name: str | None) -> Score:
    """Return the score of a name, by default that of the task; ValueError for another task."""
    task = comparison.task
    known = [score.name for score in SCORES.values() if score.task in (None, task)]
    try:
        score = get_score(default_score(task) if name is None else name)
    except ValueError:
        score = None
    if score is None or score.task not in (None, task):
        raise ValueError(f"score of a {task} must be one of {', '.join(known)}, got {name!r}.")
    return score


def check_classification(comparison: Comparison) -> None:
    """Raise ValueError for a comparison of regressors."""
    if comparison.task != "classification":
        raise ValueError("comparison must be one of classifiers, got regressors.")


def learner_names(comparison: Comparison) -> list[str]:
    """Return the names of the learners."""
    return [learner.name for learner in comparison.learners]


def pooled_predictions(comparison: Comparison, dataset: str, learner: str) -> Predictions | None:
    """Join the test rows of all folds; None if a fold failed."""
    folds = [fold.predictions for fold in comparison.of(dataset, learner)]
    known = [fold for fold in folds if fold is not None]
    return pool(known) if known and len(known) == len(folds) else None


def pooled_probabilities(
    comparison: Comparison, dataset: str
) -> tuple[dict[str, Predictions], dict[str, str]]:
    """Return pooled rows of the learners with probabilities, and why the others have none."""
    pooled: dict[str, Predictions] = {}
    reasons: dict[str, str] = {}
    for name in learner_names(comparison):
        rows = pooled_predictions(comparison, dataset, name)
        if rows is None:
            reasons[name] = "failed"
        elif rows.probabilities is None:
            reasons[name] = "no probabilities"
        else:
            pooled[name] = rows
    if not pooled:
        listed = ", ".join(f"{name} ({reason})" for name, reason in reasons.items())
        raise ValueError(
            f"comparison must have a learner with probabilities on {dataset}, got {listed}."
        )
    return pooled, reasons


def label_index(classes: Sequence[Any], label: Any) -> int | None:
    """Return the index of a class: by default the second of two, and None of several."""
    if label is None:
        return 1 if len(classes) == 2 else None
    if label not in classes:
        raise ValueError(f"label must be one of the classes {list(classes)}, got {label!r}.")
    return classes.index(label)


def score_text(score: Score) -> str:
    """Return the label of an axis with scores."""
    is_loss = score.greater_is_better is False
    return f"{score.label}, smaller is better" if is_loss else score.label


def name_text(name: str, max_length: int = _MAX_NAME) -> str:
    """Return the name of a learner or dataset on one short line."""
    return style.shorten(name, max_length)


def names_width(names: Sequence[str], size: float = style.TICK_SIZE) -> float:
    """Return the width of the longest name in inches."""
    return max(style.text_width(name) for name in names) * size / 72


def add_missing(ax: Any, reasons: dict[str, str]) -> None:
    """Add learners without a curve to the legend, each with its reason."""
    for name, reason in reasons.items():
        ax.plot([], [], linestyle="none", label=f"{name_text(name)}: {reason}", gid="missing")


def legend_height(labels: Sequence[str], width: float, title: str = "") -> float:
    """Return the height of a legend below a figure of a width, in inches."""
    n_rows = -(-len(labels) // _legend_columns(labels, width)) if labels else 0
    return 0.2 * (n_rows + bool(title)) + 0.1 * bool(labels)


def _legend_columns(labels: Sequence[str], width: float) -> int:
    n_fitting = int(width / (names_width(labels, style.LABEL_SIZE) + 0.65))
    return max(1, min(n_fitting, len(labels)))


def legend_below(figure: Any, handles: Sequence[Any], *, title: str = "") -> Any:
    """Add a legend below all panels, in as many columns as the figure has space for."""
    labels = [handle.get_label() for handle in handles]
    columns = _legend_columns(labels, figure.bbox.width / figure.dpi)
    legend = figure.legend(
        handles=handles, loc="outside lower left", ncols=columns, alignment="left",
        title=title or None, title_fontsize=style.LABEL_SIZE, **style.LEGEND,
    )  # fmt: skip
    return plain_legend(legend)


def plain_legend(legend: Any) -> Any:
    """Draw the names of a legend as they are: a dollar sign starts no formula."""
    for text in legend.get_texts():
        text.set_parse_math(False)
    legend.get_title().set_color(style.MUTED)
    return legend
