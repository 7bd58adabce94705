"""Learners by short names, for command lines and experiment files.

A name stands for an estimator class of each task and for the values of some hyper-parameters:
``c45`` is a decision tree with ``algorithm="c45"``. A dotted name is a class of Ceiba or
scikit-learn. The text ``forest:n_estimators=50,max_features=sqrt`` has a name and hyper-parameters,
which are parsed by their declared types.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline

import ceiba
from ceiba.base import Parameter, ParameterError, declared, validate
from ceiba.base.parameters import Parameters
from ceiba.base.spelling import fold
from ceiba.base.value_types import TypeOption, checker, describe
from ceiba.data.schema import Schema
from ceiba.data.target import Task

TASKS: tuple[Task, ...] = ("classification", "regression")
# Packages whose classes a dotted name may have: a file must not import any module.
_PACKAGES = ("ceiba", "sklearn")
_WORDS = {"true": True, "false": False, "none": None}


class UnknownLearnerError(ValueError):
    """There is no learner of a name, or not for the task."""


class UnknownParameterError(ValueError):
    """A learner has no hyper-parameter of a name."""


@dataclass(frozen=True, slots=True)
class LearnerEntry:
    """A learner of the catalog.

    Parameters
    ----------
    name : str
    description : str
        One sentence.
    classifier, regressor : str or None
        Names of the estimator classes; None where the learner does not have the task.
    parameters : mapping
        Hyper-parameters that differ from the defaults of the class.
    is_default : bool
        Whether the learner is among those that are compared if none is chosen.
    """

    name: str
    description: str
    classifier: str | None
    regressor: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    is_default: bool = True

    def has_task(self, task: Task) -> bool:
        """Return whether the learner has an estimator for the task."""
        return self._class_name(task) is not None

    def estimator_class(self, task: Task) -> Any:
        """Return the estimator class; raise if the learner does not have the task."""
        name = self._class_name(task)
        if name is None:
            known = ", ".join(learner_names(task))
            raise UnknownLearnerError(
                f"Learner {self.name!r} does not support {task}; those that do are {known}."
            )
        return getattr(ceiba, name)

    def _class_name(self, task: Task) -> str | None:
        return self.classifier if task == "classification" else self.regressor


_TREE = ("DecisionTreeClassifier", "DecisionTreeRegressor")
_BAYES = "NaiveBayesClassifier"
_ENTRIES = (
    LearnerEntry("tree", "Decision tree, CART without pruning.", *_TREE),
    LearnerEntry(
        "cart",
        "Decision tree, CART with cost-complexity pruning by cross-validation.",
        *_TREE,
        {"pruning": "cost_complexity"},
        is_default=False,
    ),
    LearnerEntry(
        "c45",
        "Decision tree of C4.5: gain ratio, multiway splits, pessimistic pruning.",
        _TREE[0],
        parameters={"algorithm": "c45"},
        is_default=False,
    ),
    LearnerEntry(
        "id3",
        "Decision tree of ID3: entropy, multiway splits, no pruning.",
        _TREE[0],
        parameters={"algorithm": "id3"},
        is_default=False,
    ),
    LearnerEntry("forest", "Random forest.", "RandomForestClassifier", "RandomForestRegressor"),
    LearnerEntry(
        "extra_trees",
        "Extremely randomized trees.",
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
        is_default=False,
    ),
    LearnerEntry("bagging", "Bagging of trees.", "BaggingClassifier", "BaggingRegressor"),
    LearnerEntry("adaboost", "AdaBoost of trees.", "AdaBoostClassifier", "AdaBoostRegressor"),
    LearnerEntry(
        "gradient_boosting",
        "Gradient boosting of trees.",
        "GradientBoostingClassifier",
        "GradientBoostingRegressor",
    ),
    LearnerEntry("knn", "Nearest neighbors.", "KNeighborsClassifier", "KNeighborsRegressor"),
    LearnerEntry("naive_bayes", "Naive Bayes.", _BAYES),
    LearnerEntry(
        "naive_bayes_tm",
        "Naive Bayes, trained discriminatively (TM).",
        _BAYES,
        parameters={"training": "tm"},
    ),
    LearnerEntry("tan", "Tree-augmented naive Bayes.", "TANClassifier"),
    LearnerEntry(
        "tan_tm",
        "Tree-augmented naive Bayes, trained discriminatively (TM).",
        "TANClassifier",
        parameters={"training": "tm"},
    ),
    LearnerEntry(
        "structural_tm",
        "Network whose columns and arcs are searched discriminatively.",
        "StructuralTMClassifier",
    ),
    LearnerEntry("gmm", "A Gaussian mixture for each class.", "GaussianMixtureClassifier"),
)
#: The learners of the catalog, by name.
LEARNERS: dict[str, LearnerEntry] = {entry.name: entry for entry in _ENTRIES}


def learner_names(task: Task | None = None) -> list[str]:
    """Return the short names of learners, of one task or of all.

    Parameters
    ----------
    task : {"classification", "regression"}, optional

    Returns
    -------
    list of str

    Examples
    --------
    >>> learner_names("regression")
    ['tree', 'cart', 'forest', 'extra_trees', 'bagging', 'adaboost', 'gradient_boosting', 'knn']
    """
    return [name for name, entry in LEARNERS.items() if task is None or entry.has_task(task)]


def find_learner(name: str) -> LearnerEntry:
    """Return the entry of a short name; case and punctuation do not matter.

    Examples
    --------
    >>> find_learner("C4.5").name
    'c45'
    """
    names = {fold(known): known for known in LEARNERS}
    found = names.get(fold(name))
    if found is None:
        hint = did_you_mean(name, LEARNERS) or f" The names are {', '.join(LEARNERS)}."
        raise UnknownLearnerError(f"There is no learner {name!r}.{hint}")
    return LEARNERS[found]


def learner_class(name: str, task: Task) -> Any:
    """Return the estimator class of a short or dotted name.

    Parameters
    ----------
    name : str
        A name of the catalog, or such as ``sklearn.linear_model.LogisticRegression``.
    task : {"classification", "regression"}

    Returns
    -------
    type

    Examples
    --------
    >>> learner_class("forest", "regression").__name__
    'RandomForestRegressor'
    """
    return _resolve(name, task)[0]


def make_learner(name: str, task: Task = "classification", **parameters: Any) -> Any:
    """Make an estimator from the name of a learner.

    Parameters
    ----------
    name : str
        A name of the catalog, or such as ``sklearn.linear_model.LogisticRegression``.
    task : {"classification", "regression"}
        For names of the catalog, which have a classifier and some of them a regressor.
    **parameters
        Hyper-parameters.

    Returns
    -------
    estimator

    Raises
    ------
    UnknownLearnerError, UnknownParameterError
        The message lists similar names.
    ParameterError
        If the value of a hyper-parameter is not allowed.

    Examples
    --------
    >>> make_learner("tree", max_depth=3)
    DecisionTreeClassifier(max_depth=3)
    >>> make_learner("naive_bayes_tm", tau=0.5)
    NaiveBayesClassifier(tau=0.5, training='tm')
    >>> try:
    ...     make_learner("tree", max_dept=3)
    ... except ValueError as error:
    ...     print(error)
    There is no parameter 'max_dept' of DecisionTreeClassifier. Did you mean 'max_depth'?
    """
    cls, preset = _resolve(name, task)
    for parameter in parameters:
        check_parameter(cls, parameter)
    estimator = cls(**{**preset, **parameters})
    if isinstance(estimator, Parameters):
        validate(estimator)
    return estimator


def make_steps(steps: Sequence[str], task: Task, **parameters: Any) -> Any:
    """Make a pipeline of learners and transformers.

    Parameters
    ----------
    steps : sequence of str
        Names as in `make_learner`, the last one of a learner.
    task : {"classification", "regression"}
    **parameters
        Hyper-parameters of steps, by the lower-case class: ``svc__C``.

    Returns
    -------
    Pipeline

    Examples
    --------
    >>> steps = ["sklearn.preprocessing.StandardScaler", "sklearn.svm.SVC"]
    >>> make_steps(steps, "classification", svc__C=10)["svc"]
    SVC(C=10)
    """
    if not steps:
        raise ValueError("steps must name at least one learner, got none.")
    pipeline = make_pipeline(*(make_learner(step, task) for step in steps))
    known = [name for name in pipeline.get_params() if "__" in name]
    for name in parameters:
        if name not in known:
            hint = did_you_mean(name, known)
            raise UnknownParameterError(f"There is no parameter {name!r} of the steps.{hint}")
    return pipeline.set_params(**parameters)


def default_learners(task: Task, schemas: Iterable[Schema] = ()) -> dict[str, Any]:
    """Make the learners that are compared if none is chosen, at their defaults.

    Parameters
    ----------
    task : {"classification", "regression"}
    schemas : iterable of Schema
        Of the datasets. Learners that do not take nominal columns are left out if there are any.

    Returns
    -------
    dict of str to estimator

    Examples
    --------
    >>> list(default_learners("regression"))
    ['tree', 'forest', 'bagging', 'adaboost', 'gradient_boosting', 'knn']
    """
    has_nominal = any(column.kind == "nominal" for schema in schemas for column in schema)
    found = {}
    for name, entry in LEARNERS.items():
        if entry.is_default and entry.has_task(task):
            estimator = make_learner(name, task)
            if not has_nominal or estimator.__sklearn_tags__().input_tags.categorical:
                found[name] = estimator
    return found


def parse_learner(text: str, task: Task) -> Any:
    """Make an estimator from a text such as ``forest:n_estimators=50,max_features=sqrt``.

    Parameters
    ----------
    text : str
        A name as in `make_learner`, and after a colon values of hyper-parameters, which are parsed
        by their declared types: numbers, ``true``, ``none``, choices, and lists or dictionaries in
        JSON.
    task : {"classification", "regression"}

    Returns
    -------
    estimator

    Examples
    --------
    >>> parse_learner("forest:n_estimators=50,max_features=0.5", "classification")
    RandomForestClassifier(max_features=0.5, n_estimators=50)
    """
    name, _, rest = text.partition(":")
    cls = learner_class(name, task)
    values = {}
    for part in split_values(rest):
        parameter, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"Parameters must have the form name=value, got {part!r} in {text!r}.")
        if parameter.strip() in values:
            raise ValueError(f"Parameter {parameter.strip()!r} must be given once, got {text!r}.")
        values[parameter.strip()] = parse_parameter(cls, parameter.strip(), value.strip())
    return make_learner(name, task, **values)


def parse_parameter(cls: Any, name: str, text: str) -> Any:
    """Parse the value of a hyper-parameter by its declared type.

    Examples
    --------
    >>> parse_parameter(ceiba.RandomForestClassifier, "max_features", "1")
    1
    >>> parse_parameter(ceiba.RandomForestClassifier, "max_features", "1.0")
    1.0
    """
    check_parameter(cls, name)
    if not issubclass(cls, Parameters):
        return _literal(text)
    found = next(parameter for parameter in declared(cls) if parameter.name == name)
    try:
        return parse_value(found, text)
    except ValueError as error:
        raise ParameterError(f"The {name!r} parameter of {cls.__name__} {error}") from None


def parse_value(parameter: Parameter, text: str) -> Any:
    """Parse a text as a value of a declared hyper-parameter; raise ValueError if it is none."""
    for option in parameter.options:
        try:
            value = _parse_as(option, text)
        except ValueError:
            continue
        if checker((option,))(value):
            return value
    options = typed_options(parameter)
    raise ValueError(f"must be {describe(options)}, got {text!r}{_json_advice(options)}.")


def _json_advice(options: Iterable[TypeOption]) -> str:
    """Return the advice how lists and mappings are written; empty if the types have none."""
    examples = []
    for option in options:
        if option.kind == "array":
            examples.append("'[1, 0, -1]'")
        elif option.kind == "object":
            is_mapping = issubclass(option.cls, Mapping)
            examples.append("""'{"column": 1}'""" if is_mapping else """'[["a", "b"], ["c"]]'""")
    return f": write it in JSON, such as {' or '.join(examples)}" if examples else ""


def typed_options(parameter: Parameter) -> tuple[TypeOption, ...]:
    """Return the types of a hyper-parameter whose values can be written as text."""
    return tuple(
        option
        for option in parameter.options
        if option.kind not in ("callable", "random_state")
        and (option.kind != "object" or issubclass(option.cls, Mapping | Sequence))
    )


def check_parameter(cls: Any, name: str) -> None:
    """Raise UnknownParameterError if an estimator class has no such hyper-parameter."""
    known = cls._get_param_names()
    if name not in known:
        hint = did_you_mean(name, known)
        raise UnknownParameterError(f"There is no parameter {name!r} of {cls.__name__}.{hint}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question with the nearest name, or nothing.

    Examples
    --------
    >>> did_you_mean("forrest", ["forest", "tree"])
    " Did you mean 'forest'?"
    """
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def _resolve(name: str, task: Task) -> tuple[Any, Mapping[str, Any]]:
    """Return the estimator class of a name, and the hyper-parameters that the name sets."""
    if "." in name and fold(name) not in map(fold, LEARNERS):  # "c4.5" is a short name
        return _dotted_class(name), {}
    entry = find_learner(name)
    return entry.estimator_class(task), entry.parameters


def _dotted_class(name: str) -> Any:
    """Import a class of Ceiba or scikit-learn."""
    module, _, attribute = name.rpartition(".")
    package = module.partition(".")[0]
    if package not in _PACKAGES:
        raise UnknownLearnerError(
            f"Dotted names must begin with {' or '.join(f'{p}.' for p in _PACKAGES)}, got {name!r}."
        )
    try:
        found = getattr(import_module(module), attribute, None)
    except ImportError:
        raise UnknownLearnerError(f"There is no module {module!r}, got {name!r}.") from None
    if not isinstance(found, type) or not issubclass(found, BaseEstimator):
        names = [n for n, v in vars(import_module(module)).items() if isinstance(v, type)]
        hint = did_you_mean(attribute, names)
        raise UnknownLearnerError(f"{module} has no estimator {attribute!r}.{hint}")
    return found


def split_values(text: str) -> list[str]:
    """Split a text at commas outside of brackets, braces and quotes.

    Examples
    --------
    >>> split_values("1, [2, 3], none")
    ['1', '[2, 3]', 'none']
    """
    parts, depth, quoted = [""], 0, False
    for character in text:
        quoted ^= character == '"'
        depth += (character in "[{") - (character in "]}")
        if character == "," and not depth and not quoted:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in map(str.strip, parts) if part]


def _parse_as(option: TypeOption, text: str) -> Any:
    """Parse a text as one type; raise ValueError if it has another one."""
    if option.kind == "choice":
        folded = {fold(str(choice)): choice for choice in option.choices}
        return folded.get(fold(text), text)
    if option.kind in ("bool", "none"):
        return _WORDS.get(text.lower(), text)
    if option.kind == "int":
        return int(text)
    if option.kind == "float":
        return float(text)
    if option.kind == "str":
        return text
    value = json.loads(text)
    if option.kind != "array":
        return value
    if not isinstance(value, list):  # np.array would wrap a mapping in an array of one object
        raise ValueError(f"must be a list, got {text!r}")
    return np.array(value)


def _literal(text: str) -> Any:
    """Return a number, a bool, None or JSON; other texts stay texts."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for convert in (int, float, json.loads):
        try:
            return convert(text)
        except ValueError:
            continue
    return text
