"""Options of a learner's command, derived from its declared hyper-parameters."""

from __future__ import annotations

import re
from typing import Any

import click

from ceiba.base import Parameter, declared
from ceiba.experiments.description.catalog import (
    TASKS,
    LearnerEntry,
    learner_names,
    parse_value,
    typed_options,
)

# Parameters without effect in a command that fits once.
_LEFT_OUT = {"warm_start", "copy_x", "verbose", "verbose_interval"}
_KIND_NAMES = {"int": "INT", "float": "FLOAT", "str": "TEXT", "none": "none", "array": "JSON"}


class HyperParameterType(click.ParamType):  # type: ignore[type-arg]
    """A value of a hyper-parameter; it stays a text until the task is known.

    Parameters
    ----------
    parameters : list of Parameter
        The declarations of the classifier and of the regressor.
    """

    name = "value"

    def __init__(self, parameters: list[Parameter]) -> None:
        self.parameters = parameters

    def convert(self, value: Any, param: click.Parameter | None, ctx: Any) -> Any:
        """Check that the value is allowed for the classifier or the regressor."""
        for parameter in self.parameters:
            try:
                parse_value(parameter, value)
                return value
            except ValueError as error:
                message = str(error)
        return self.fail(message, param, ctx)

    def get_metavar(self, param: click.Parameter, ctx: Any = None) -> str:
        """Return choices and types, such as ``[auto|INT]``."""
        words = [
            word
            for parameter in self.parameters
            for option in typed_options(parameter)
            for word in _words(option)
        ]
        text = "|".join(dict.fromkeys(words))
        return text if text in ("INT", "FLOAT", "TEXT") else f"[{text}]"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Any:
        """Return the choices."""
        from click.shell_completion import CompletionItem

        choices = [str(choice) for entry in self.parameters for choice in entry.choices]
        return [CompletionItem(choice) for choice in choices if choice.startswith(incomplete)]


class HyperParameterOption(click.Option):
    """An option that sets a hyper-parameter; listed in a section of its own."""


class LearnerType(click.ParamType):  # type: ignore[type-arg]
    """Name of a learner, with or without parameters; names are completed."""

    name = "learner"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Any:
        """Return the names of learners."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in learner_names() if name.startswith(incomplete)]


class LearnerCommand(click.Command):
    """A command whose help lists its own options first, then the hyper-parameters."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write both sections."""
        sections: dict[str, list[tuple[str, str]]] = {"Options": [], "Hyper-parameters": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                is_hyper = isinstance(param, HyperParameterOption)
                sections["Hyper-parameters" if is_hyper else "Options"].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def learner_options(entry: LearnerEntry) -> list[click.Option]:
    """Return the options of a learner, in the order of its signature."""
    by_name: dict[str, list[Parameter]] = {}
    for task in TASKS:
        if entry.has_task(task):
            for parameter in declared(entry.estimator_class(task)):
                by_name.setdefault(parameter.name, []).append(parameter)
    return [
        _option(name, parameters, entry)
        for name, parameters in by_name.items()
        if name not in _LEFT_OUT and any(_is_typed(entry) for entry in parameters)
    ]


def _is_typed(parameter: Parameter) -> bool:
    """Return whether a value other than None can be written as text."""
    return any(option.kind != "none" for option in typed_options(parameter))


def _option(name: str, parameters: list[Parameter], entry: LearnerEntry) -> click.Option:
    flag = name.replace("_", "-").lower()
    only = ""
    if entry.regressor is not None and len(parameters) == 1:
        is_classifier = any(
            parameter.name == name
            for parameter in declared(entry.estimator_class("classification"))
        )
        only = "Classifier only. " if is_classifier else "Regressor only. "
    return HyperParameterOption(
        [f"--{flag}", name],
        type=HyperParameterType(parameters),
        help=only + _help(parameters, entry.parameters.get(name)),
    )


def _help(parameters: list[Parameter], preset: Any) -> str:
    """Return the first sentence of the description, with range and default."""
    first = parameters[0]
    sentence = re.split(r"(?<=[.])\s|[:;] ", first.meaning)[0].rstrip(".")
    parts = [first.range.describe()] if first.range is not None else []
    default = first.default if preset is None else preset
    if default is not None and not first.required:
        text = str(default).lower() if isinstance(default, bool) else str(default)
        others = [p.default for p in parameters[1:] if preset is None and p.default != default]
        parts.append(f"default: {text}" + (f", regressor {others[0]}" if others else ""))
    return f"{sentence}." + (f"  [{'; '.join(parts)}]" if parts else "")


def _words(option: Any) -> list[str]:
    """Return what may be typed for one type."""
    if option.kind == "choice":
        return [str(choice) for choice in option.choices]
    if option.kind == "bool":
        return ["true", "false"]
    return [_KIND_NAMES.get(option.kind, "JSON")]
