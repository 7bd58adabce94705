"""Base of bagging and AdaBoost: ensembles of clones of any estimator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    _raise_for_params,
    _routing_enabled,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from ceiba._typing import Array
from ceiba.base import Estimator, fitted, validate
from ceiba.base.estimator import check_schema_attributes
from ceiba.data.target import Task, class_indices
from ceiba.data.warn import warn_user
from ceiba.engine import Engine
from ceiba.engine.choose import check_in_memory
from ceiba.ensemble.common.members import MemberSequence
from ceiba.ensemble.common.rows import (
    InputRows,
    TrainingData,
    accepts_table,
    open_as_given,
    open_as_table,
)
from ceiba.ensemble.common.sampling import MEMBER, STATE, keyed_bits
from ceiba.tree.base import DecisionTree
from ceiba.tree.explain.shap_mixin import TreeShapMixin
from ceiba.tree.model.tree import Tree

# NumPy's RandomState takes seeds of 32 bits, and some learners read them as signed integers.
_STATE_BITS = 31


class BaseMetaEnsemble(MemberSequence, TreeShapMixin, Estimator):
    """Base of ensembles that fit clones of any estimator, Ceiba's or another."""

    _task: ClassVar[Task]
    # Class of the estimator that is used for ``estimator=None``.
    _tree_class: ClassVar[type[Any]]
    estimators_: list[Any] = fitted()
    n_features_in_: int = fitted()

    def _default_estimator(self) -> Any:
        """Return the estimator that is used for ``estimator=None``."""
        raise NotImplementedError

    def _get_estimator(self) -> Any:
        """Return the estimator that members are clones of."""
        return self._default_estimator() if self.estimator is None else self.estimator

    @property
    def estimator_(self) -> Any:
        """The estimator that the members are clones of, not fitted."""
        check_is_fitted(self)
        return clone(self._get_estimator())

    def _prepare_fit(self, fit_params: dict[str, Any], *inputs: Any) -> tuple[Any, dict[str, Any]]:
        """Check parameters; return a clone of the estimator and metadata for fit."""
        validate(self)
        params = self._routed_params("fit", "fit", fit_params)
        check_in_memory(type(self).__name__, *inputs)
        estimator = clone(self._get_estimator())
        self._check_estimator(estimator)
        return estimator, params

    def _check_estimator(self, estimator: Any) -> None:
        kind = get_tags(estimator).estimator_type
        expected = "classifier" if self._task == "classification" else "regressor"
        if kind not in (None, expected):
            raise ValueError(
                f"estimator of {type(self).__name__} must be a {expected}, got "
                f"{type(estimator).__name__}, a {kind}."
            )

    def _training_data(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool
    ) -> tuple[Engine, TrainingData]:
        """Open the rows of a fit, with a new schema or that of the previous fit."""
        as_table = accepts_table(estimator)
        engine, rows = (open_as_table if as_table else open_as_given)(self, X, y=y, reset=reset)
        return engine, TrainingData.of(rows, y, sample_weight, self._task)

    def _prediction_rows(self, X: Any) -> tuple[Engine, InputRows]:
        """Open the rows of a prediction, in the form that members require."""
        check_is_fitted(self)
        check_in_memory(type(self).__name__, X)
        return (open_as_table if "schema_" in vars(self) else open_as_given)(self, X, reset=False)

    def _replace_fitted(self, attributes: dict[str, Any]) -> None:
        """Replace all fitted attributes atomically."""
        old = [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]
        self._set_fitted(attributes, without=old)

    def _member_importances(self) -> list[Array]:
        """Return ``feature_importances_`` of each member."""
        check_is_fitted(self)
        try:
            return [member.feature_importances_ for member in self.estimators_]
        except AttributeError as error:
            name = type(self.estimators_[0]).__name__
            raise AttributeError(
                f"feature_importances_ requires members that have this attribute, got {name}."
            ) from error

    def _member_trees(self) -> list[Tree]:
        """Return the trees of the members, whose predictions are explained."""
        for member in self.estimators_:
            if not isinstance(member, DecisionTree):
                raise ValueError(
                    "Shapley values require members that are Ceiba's decision trees, got "
                    f"{type(member).__name__}: use estimator=None."
                )
        return [member.tree_ for member in self.estimators_]

    def _routed_params(self, method: str, callee: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the metadata of a method that ``callee`` of the members requests."""
        _raise_for_params(params, self, method)
        if not _routing_enabled():
            return {}
        routed = process_routing(self, method, **params)["estimator"]
        return dict(routed.get(callee, {}))

    def _check_state(self) -> None:
        """Raise if a loaded model is inconsistent."""
        if "schema_" in vars(self):
            check_schema_attributes(self)
        self._check_members()
        if self._task == "regression":
            return
        if self.n_classes_ != len(self.classes_):
            raise ValueError(
                f"n_classes_ must be {len(self.classes_)}, the length of classes_, got "
                f"{self.n_classes_}."
            )
        for member in self.estimators_:
            class_indices(member.classes_, self.classes_)

    def _check_members(self) -> None:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._get_estimator()).input_tags
        for name in ("allow_nan", "categorical", "string", "sparse"):
            setattr(tags.input_tags, name, getattr(inner, name))
        return tags


def class_attributes(classes: Array | None) -> dict[str, Any]:
    """Return the fitted attributes that describe the classes; none for regression."""
    return {} if classes is None else {"classes_": classes, "n_classes_": len(classes)}


def warn_single_leaves(members: Iterable[Any], remedy: str) -> None:
    """Warn if every member is a tree of one leaf, so that the ensemble predicts a constant."""
    trees = list(members)
    if all(isinstance(tree, DecisionTree) and tree.get_n_leaves() == 1 for tree in trees):
        warn_constant(len(trees), remedy)


def warn_constant(n_trees: int, remedy: str) -> None:
    """Warn that all trees are single leaves."""
    warn_user(
        f"Each of the {n_trees} trees is a single leaf, so that all rows get the same prediction: "
        f"{remedy}, or check that the columns are related to y.",
        UserWarning,
    )


class MemberError(RuntimeError):
    """A member of an ensemble failed; the message names it."""


def member_seed(seed: int, number: int) -> int:
    """Return the seed of one member of an ensemble."""
    return keyed_bits(seed, MEMBER, number)


def clone_with_seed(estimator: Any, seed: int) -> Any:
    """Clone an estimator and set every ``random_state`` in it from a member's seed."""
    member = clone(estimator)
    parameters = member.get_params(deep=True)
    names = sorted(name for name in parameters if name.rpartition("__")[2] == "random_state")
    states = {name: keyed_bits(seed, STATE, i) % 2**_STATE_BITS for i, name in enumerate(names)}
    return member.set_params(**states) if states else member


def accepts_sample_weight(estimator: Any) -> bool:
    """Return whether ``fit`` accepts, or with routing requests, ``sample_weight``."""
    if _routing_enabled():
        requested = get_routing_for_object(estimator).consumes("fit", ("sample_weight",))
        return bool(requested)
    return bool(has_fit_parameter(estimator, "sample_weight"))


@contextmanager
def error_context(failure: str) -> Iterator[None]:
    """Prefix the message of any error with ``failure``; common error types are kept."""
    try:
        yield
    except Exception as error:
        kinds = (ValueError, TypeError, MemoryError)
        kind = next((kind for kind in kinds if isinstance(error, kind)), MemberError)
        raise kind(f"{failure}: {error}") from error
