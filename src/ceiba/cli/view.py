"""``ceiba view``: a model as text, rules, picture or JSON."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import click

from ceiba.cli.output import Output, check_output, pass_output, quiet_option, text_table, write_file
from ceiba.cli.predict import model_argument

_PICTURES = (".png", ".svg", ".pdf")


@click.command()
@model_argument
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["text", "rules", "picture", "json"]),
    default="text",
    show_default=True,
    help="Rules are those of trees; pictures show trees and networks.",
)
@click.option("-o", "--output", "path", metavar="FILE", help="File to write: .png, .svg, .pdf.")
@click.option("--member", type=click.IntRange(min=0), help="Tree of an ensemble, from 0.")
@quiet_option
@pass_output
def view(output: Output, model: str, form: str, path: str | None, member: int | None) -> None:
    """Show the model file MODEL as text, rules, picture or JSON."""
    import ceiba

    learner = ceiba.load(model)
    if member is not None:
        learner = _member(learner, member)
    if form == "picture":
        path = path or f"{Path(model).stem}.png"
        check_output(path, model)
        write_file(path, _picture(learner, path))
        output.note(f"Wrote {path}.")
        return
    text = {"text": _text, "rules": _rules, "json": _json}[form](learner)
    if path is None:
        click.echo(text)
    else:
        write_file(path, f"{text}\n")
        output.note(f"Wrote {path}.")


def _member(learner: Any, index: int) -> Any:
    """Return one tree of an ensemble."""
    members = getattr(learner, "estimators_", None)
    if hasattr(learner, "boosted_trees_"):
        members = _boosted_members(learner)
    if members is None:
        raise ValueError(f"--member is for ensembles, got a {type(learner).__name__}.")
    if index >= len(members):
        raise ValueError(f"--member must be less than {len(members)}, got {index}.")
    return members[index]


def _boosted_members(learner: Any) -> list[Any]:
    """Return the trees of gradient boosting, round by round, as regression trees."""
    import ceiba

    members = []
    shared = {name: vars(learner)[name] for name in ("schema_", "n_features_in_")}
    forest = learner.boosted_trees_.to_forest()
    for number in range(forest.n_trees):
        member = ceiba.DecisionTreeRegressor()
        member._set_fitted({**shared, "tree_": forest.tree(number)})
        members.append(member)
    return members


def _text(learner: Any) -> str:
    """Return a tree with its conditions, or a summary of another model."""
    if hasattr(learner, "to_text"):
        return str(learner.to_text())
    lines = [" ".join(repr(learner).split())]
    lines += [f"{learner.n_features_in_} columns"]
    if hasattr(learner, "classes_"):
        lines += [f"classes: {', '.join(map(str, learner.classes_.tolist()))}"]
    for part in (_ensemble_lines, _network_lines, _mixture_lines, _neighbor_lines):
        lines += part(learner)
    return "\n".join(lines)


def _ensemble_lines(learner: Any) -> list[str]:
    if hasattr(learner, "boosted_trees_"):
        trees = learner.boosted_trees_
        counts = f"rounds: {trees.n_rounds}, trees: {trees.n_trees}"
        lines = [f"{counts}; --member 0 shows the first one"]
    elif not hasattr(learner, "estimators_"):
        return []
    else:
        lines = [f"{len(learner.estimators_)} members; --member 0 shows the first one"]
    weights = getattr(learner, "estimator_weights_", None)
    if weights is not None:
        lines.append("estimator weights: " + _numbers(weights))
    importances = getattr(learner, "feature_importances_", None)
    if importances is not None:
        order = importances.argsort()[::-1]
        names = learner.schema_.names
        rows = [[names[j], f"{importances[j]:.4f}"] for j in order]
        lines += ["", text_table([["column", "importance"], *rows])]
    return lines


def _network_lines(learner: Any) -> list[str]:
    """Return arcs and probability tables of a Bayesian network."""
    if not hasattr(learner, "probability_table"):
        return []
    names = learner.schema_.names
    arcs = [
        f"{_name(names, parent)} -> {_name(names, child)}"
        for parent, child in getattr(learner, "arcs_", [])
    ]
    lines = [f"arcs: {', '.join(arcs)}"] if arcs else []
    for name in names:
        if name not in getattr(learner, "dropped_columns_", ()):
            try:
                table = learner.probability_table(name)
            except ValueError:  # a density, or a column that the model does not use
                continue
            lines += ["", name, table.to_string(float_format="{:.4f}".format)]
    return lines


def _name(names: list[str], column: Any) -> str:
    return column if isinstance(column, str) else names[int(column)]


def _mixture_lines(learner: Any) -> list[str]:
    """Return weights and means of the components."""
    if not hasattr(learner, "mixtures_"):
        return []
    heads = ["class", "prior", "weight", *learner.schema_.names]
    rows = [
        [str(label), f"{prior:.4f}", f"{weight:.4f}", *(f"{value:.4g}" for value in mean)]
        for label, prior, mixture in zip(
            learner.classes_.tolist(), learner.class_prior_, learner.mixtures_, strict=True
        )
        for weight, mean in zip(mixture.weights_, mixture.means_, strict=True)
    ]
    return ["means of the components", "", text_table([heads, *rows])]


def _neighbor_lines(learner: Any) -> list[str]:
    if not hasattr(learner, "n_neighbors_"):
        return []
    return [f"{learner.n_neighbors_} neighbors of {learner.n_samples_fit_:,} rows"]


def _numbers(values: Any, n_max: int = 10) -> str:
    return ", ".join(f"{value:.4g}" for value in values[:n_max]) + ", ..." * (len(values) > n_max)


def _rules(learner: Any) -> str:
    if not hasattr(learner, "to_rules"):
        raise ValueError(_unavailable(learner, "rules", "a tree"))
    return str(learner.to_rules().to_text())


def _json(learner: Any) -> str:
    """Return a tree as JSON; of other models parameters, columns and classes."""
    if hasattr(learner, "to_json"):
        return str(learner.to_json(indent=2))
    found = {
        "model": type(learner).__name__,
        "parameters": learner.get_params(deep=False),
        "columns": {column.name: str(column.kind) for column in learner.schema_},
    }
    for name in ("classes_", "feature_importances_", "class_prior_", "n_iter_"):
        value = getattr(learner, name, None)
        if value is not None:
            found[name.rstrip("_")] = value.tolist() if hasattr(value, "tolist") else value
    return json.dumps(found, indent=2, ensure_ascii=False, default=str)


def _picture(learner: Any, path: str) -> bytes:
    """Draw a tree or a network in the format of the suffix."""
    picture_format(path)
    from ceiba import plots

    if hasattr(learner, "tree_"):
        figure = plots.tree(learner)
    elif hasattr(learner, "probability_table"):
        figure = plots.network(learner)
    else:
        raise ValueError(_unavailable(learner, "picture", "trees and networks"))
    return render(figure, path)


def picture_format(path: str) -> str:
    """Return the format of a picture by its suffix; raise ValueError for others."""
    suffix = Path(path).suffix.lower()
    if suffix not in _PICTURES:
        raise ValueError(f"--output must end in {', '.join(_PICTURES)}, got {path!r}.")
    return suffix[1:]


def render(figure: Any, path: str) -> bytes:
    """Return a figure in the format of a path."""
    file = io.BytesIO()
    figure.savefig(file, format=picture_format(path))
    return file.getvalue()


def _has_members(learner: Any) -> bool:
    return hasattr(learner, "estimators_") or hasattr(learner, "boosted_trees_")


def _unavailable(learner: Any, form: str, of: str) -> str:
    hint = " --member 0 is its first tree." if _has_members(learner) else ""
    return f"--format {form} is for {of}, got a {type(learner).__name__}.{hint}"
