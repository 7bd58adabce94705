"""``ceiba evaluate``: scores of a model on the rows of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ceiba.cli.data import data_argument, encoding_option, model_kinds, model_rows, target_option
from ceiba.cli.output import json_option, print_json, print_table, quiet_option
from ceiba.cli.predict import model_argument


@click.command()
@model_argument
@data_argument
@target_option
@encoding_option
@json_option
@quiet_option
def evaluate(model: str, data: str, target: str | None, encoding: str, as_json: bool) -> None:
    """Score the model file MODEL on the rows of DATA, which must have the target."""
    import ceiba
    from ceiba.experiments import class_scores, compute_scores, confusion_matrix

    learner = ceiba.load(model)
    predictions = _predict(learner, data, target, encoding)
    scores = compute_scores(predictions)
    if as_json:
        values = {name: value.value for name, value in scores.items()}
        found: dict[str, Any] = {"rows": len(predictions), "scores": values}
        if predictions.classes is not None:
            found["classes"] = list(predictions.classes)
            found["confusion_matrix"] = confusion_matrix(predictions)
        print_json(found)
        return
    click.echo(f"{len(predictions):,} rows of {data}\n")
    print_table([["score", "value"], *([name, str(scores[name])] for name in scores)])
    if predictions.classes is None:
        return
    click.echo("\nConfusion matrix; rows are true classes, columns predicted ones.")
    labels = [str(label) for label in predictions.classes]
    matrix = confusion_matrix(predictions).tolist()
    lines = [[label, *map(str, row)] for label, row in zip(labels, matrix, strict=True)]
    print_table([["", *labels], *lines])
    click.echo()
    heads = ["class", "precision", "recall", "f1", "rows"]
    print_table([heads, *(_class_line(entry) for entry in class_scores(predictions))])


def _predict(learner: Any, data: str, target: str | None, encoding: str) -> Any:
    """Predict rows with a known target, in the columns and kinds of the model."""
    from sklearn.base import is_classifier, is_regressor

    from ceiba.experiments import Predictions

    if not (is_classifier(learner) or is_regressor(learner)):
        raise ValueError(f"a {type(learner).__name__} has no target to evaluate.")
    rows, y = _rows_and_target(learner, data, target, encoding, is_classifier(learner))
    predicted = learner.predict(rows)
    if not is_classifier(learner):
        return Predictions(y, predicted, task="regression")
    probabilities = learner.predict_proba(rows) if hasattr(learner, "predict_proba") else None
    return Predictions(y, predicted, probabilities, learner.classes_)


def _rows_and_target(
    learner: Any, data: str, target: str | None, encoding: str, has_classes: bool
) -> tuple[Any, Any]:
    """Read the columns of the model and the target; other columns are not read."""
    from ceiba.data import read
    from ceiba.experiments.description.tables import (
        TargetError,
        check_found,
        is_bundled,
        load_table,
    )

    if is_bundled(data) and not Path(data).exists():
        task: Any = "classification" if has_classes else "regression"
        return model_rows(learner, data), load_table(data, target, task=task).y
    check_found(Path(data), data)
    if target is None:
        raise TargetError(f"{data}: name the column of the target, --target COLUMN.")
    names, kinds = learner.schema_.names, model_kinds(learner)
    rows, y = read(data, target=target, columns=names, kinds=kinds, encoding=encoding)
    return rows, y


def _class_line(entry: Any) -> list[str]:
    values = [entry.precision, entry.recall, entry.f1]
    texts = ["–" if value is None else f"{value:.3f}" for value in values]
    return [str(entry.label), *texts, str(entry.n_true)]
