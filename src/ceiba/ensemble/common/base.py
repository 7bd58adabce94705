"""A committee: copies of any estimator, fitted by themselves, that decide together."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import _raise_for_params, _routing_enabled, process_routing
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import Estimator, validate
from ceiba.data.target import Task, class_places
from ceiba.engine import Engine
from ceiba.ensemble.common.rows import (
    MemberRows,
    TrainingRows,
    check_in_memory,
    given_rows,
    own_rows,
    takes_table,
)


class Committee(Estimator):
    """What bagging and boosting share; fitting members and hearing them is the subclass's."""

    _task: ClassVar[Task]
    # The kind of estimator that members must be, in scikit-learn's word.
    _kind: ClassVar[str]
    estimators_: list[Any]
    n_features_in_: int

    def _usual(self) -> Any:
        """The member where no estimator is given."""
        raise NotImplementedError

    def _prototype(self) -> Any:
        """What members are copies of."""
        return self._usual() if self.estimator is None else self.estimator

    def _begun(self, fit_params: dict[str, Any], *given: Any) -> tuple[Any, dict[str, Any]]:
        """What members of a fit are copies of, and metadata for them, when all is checked."""
        validate(self)
        params = self._routed("fit", "fit", fit_params)
        check_in_memory(type(self).__name__, *given)
        estimator = clone(self._prototype())
        self._check_estimator(estimator)
        return estimator, params

    def _check_estimator(self, estimator: Any) -> None:
        kind = get_tags(estimator).estimator_type
        if kind not in (None, self._kind):
            raise ValueError(
                f"{type(self).__name__} is for {self._task}, and its estimator "
                f"{type(estimator).__name__} is a {kind}"
            )

    def _learning(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool
    ) -> tuple[Engine, TrainingRows]:
        """The rows of a fit, with a schema of their own or with that of the fit before."""
        engine, rows = self._opened(X, takes_table(estimator), y=y, reset=reset)
        return engine, TrainingRows.of(rows, y, sample_weight, self._task)

    def _asked_about(self, X: Any) -> tuple[Engine, MemberRows]:
        """Rows that need not be those of training, as members take them."""
        check_is_fitted(self)
        check_in_memory(type(self).__name__, X)
        return self._opened(X, "schema_" in vars(self), reset=False)

    def _opened(
        self, X: Any, own: bool, *, y: Any = None, reset: bool
    ) -> tuple[Engine, MemberRows]:
        return own_rows(self, X, y=y, reset=reset) if own else given_rows(self, X, reset=reset)

    def _keep(self, attributes: dict[str, Any]) -> None:
        """What was learnt, in the place of all that was learnt before."""
        old = [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]
        self._become(attributes, without=old)

    def _importances(self) -> list[Array]:
        """Those of each member."""
        check_is_fitted(self)
        try:
            return [member.feature_importances_ for member in self.estimators_]
        except AttributeError as error:
            name = type(self.estimators_[0]).__name__
            raise AttributeError(
                f"{name} has no feature_importances_, and so its committee none"
            ) from error

    def _routed(self, method: str, callee: str, params: dict[str, Any]) -> dict[str, Any]:
        """Metadata of a call that members have asked for, whose ``callee`` is called then."""
        _raise_for_params(params, self, method)
        if not _routing_enabled():
            return {}
        routed = process_routing(self, method, **params)["estimator"]
        return dict(routed.get(callee, {}))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._prototype()).input_tags
        for name in ("allow_nan", "categorical", "string"):
            setattr(tags.input_tags, name, getattr(inner, name))
        return tags


def class_attributes(classes: Array | None) -> dict[str, Any]:
    """What a fitted committee keeps of its classes."""
    assert classes is not None
    return {"classes_": classes, "n_classes_": len(classes)}


def check_classes(model: Any) -> None:
    """Refuse classes that are not those of the members, as a file may hold."""
    if model.n_classes_ != len(model.classes_):
        raise ValueError("n_classes_ must be the number of classes_")
    for member in model.estimators_:
        class_places(member.classes_, model.classes_)
