"""What the bagging classifier and the bagging regressor share."""

from __future__ import annotations

from contextlib import nullcontext
from numbers import Integral
from typing import Any, ClassVar, Self

import joblib
import numpy as np
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, _routing_enabled
from sklearn.utils.validation import _check_method_params, check_is_fitted

from ceiba._typing import Array
from ceiba.base import Steps, seed_of, watched
from ceiba.data.warn import warn_user
from ceiba.engine import Engine
from ceiba.ensemble.bagging.fitted import BaggedMembers, Lot
from ceiba.ensemble.bagging.prediction import (
    Ask,
    InConfiguration,
    MemberTally,
    groups,
    one_thread_each,
    tally,
)
from ceiba.ensemble.common.base import Committee
from ceiba.ensemble.common.members import Member, Recipe, takes_weights
from ceiba.ensemble.common.oob import check_possible
from ceiba.ensemble.common.rows import TrainingRows, takes_table
from ceiba.ensemble.common.sampling import Sampling


class Bagging(Committee):
    """Drawing, fitting and asking members; how they decide is the subclass's."""

    # The kind of member where no estimator is given.
    _own: ClassVar[type[Any]]
    estimators_features_: list[Array]

    @watched
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : array, frame, Table or list
            Rows in memory. Members of Ceiba's own are given a Table, others the rows as they came,
            and a Table as the array it was made of or as a pandas frame.
        y : array of shape (n_rows,)
            Classes or numbers.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row. Rows are drawn by weight (``bootstrap=True``) or carry it along;
            whole weights count as repeated rows, and rows of weight zero as absent.
        **fit_params : dict
            Metadata for the members' ``fit``, where scikit-learn's metadata routing is on.

        Returns
        -------
        self : estimator
        """
        estimator, params = self._begun(fit_params, X, y, sample_weight)
        before = self._bag_before(takes_table(estimator))
        engine, training = self._learning(estimator, X, y, sample_weight, reset=not before.members)
        recipe = self._recipe(estimator, training, before.seed, params)
        bag = self._grown(engine, before, recipe, training)
        attributes = {
            **training.rows.attributes,
            **bag.attributes(),
            **self._more_attributes(training, bool(before.members)),
        }
        if self.oob_score:
            attributes |= self._oob_attributes(engine, bag, training, attributes)
        self._keep(attributes)
        return self

    def _usual(self) -> Any:
        usual = self._own()
        return usual.set_fit_request(sample_weight=True) if _routing_enabled() else usual

    def _more_attributes(self, training: TrainingRows, goes_on: bool) -> dict[str, Any]:
        return {}

    def _oob_attributes(
        self, engine: Engine, bag: BaggedMembers, training: TrainingRows, fitted: dict[str, Any]
    ) -> dict[str, Any]:
        raise NotImplementedError

    def _bag_before(self, own: bool) -> BaggedMembers:
        """The bag that this fit adds members to; without any, unless it is a warm start."""
        if not self.warm_start or not hasattr(self, "estimators_"):
            return BaggedMembers(seed_of(self.random_state))
        bag = BaggedMembers.of(self)
        if len(bag.members) > self.n_estimators:
            raise ValueError(
                f"n_estimators={self.n_estimators} is less than the {len(bag.members)} members "
                "that warm_start keeps: raise it, or set warm_start=False"
            )
        if own != ("schema_" in vars(self)):
            raise ValueError(
                "Ceiba's own members are given tables and others the rows as they came, so that "
                "one bag cannot hold both: set warm_start=False"
            )
        if len(bag.members) == self.n_estimators:
            warn_user(
                f"n_estimators={self.n_estimators} members are there already, so that warm_start "
                "adds none.",
                UserWarning,
            )
        return bag

    def _recipe(
        self, estimator: Any, training: TrainingRows, seed: int, params: dict[str, Any]
    ) -> Recipe:
        weighing = training.weighing()
        # Rows are drawn by weight or carry it along: both would count it twice.
        drawn_by, carried = (weighing.weight, None) if self.bootstrap else (None, weighing.weight)
        sampling = Sampling.of(len(weighing.rows), drawn_by, self.max_samples, self.bootstrap)
        by_weight = takes_weights(estimator)
        if carried is not None and not by_weight and (carried % 1 != 0).any():
            raise ValueError(
                f"{type(estimator).__name__} takes no sample_weight, so that rows drawn without "
                "replacement cannot carry one: set bootstrap=True, or give whole weights"
            )
        return Recipe(
            estimator, seed, weighing.rows, weighing.labels, sampling, carried, by_weight,
            column_count(self.max_features, training.rows.n_columns), self.bootstrap_features,
            _check_method_params(training.rows.data, params, training.kept),
        )  # fmt: skip

    def _grown(
        self, engine: Engine, before: BaggedMembers, recipe: Recipe, training: TrainingRows
    ) -> BaggedMembers:
        there = len(before.members)
        # Members that are added later are known by it to have seen the same rows.
        asked = self.warm_start or self.oob_score
        mark = joblib.hash([training.rows.data, training.labels]) if asked else ""
        lot = Lot(
            self.n_estimators - there, len(training.rows), recipe.sampling, training.kept, mark
        )
        if self.oob_score:
            check_possible([*before.lots, lot])
        with nullcontext() if takes_table(recipe.estimator) else one_thread_each(engine):
            members = self._members(engine, recipe, range(there, self.n_estimators))
        return before.grown(members, lot.of_members(len(members)))

    def _members(self, engine: Engine, recipe: Recipe, numbers: range) -> list[Member]:
        members: list[Member] = []
        runs = list(groups(numbers, engine.threads))
        fit = InConfiguration(recipe)
        for step in Steps(self, len(runs), name="members"):
            members += engine.map(fit, runs[step.number - 1])
        return members

    def _tally(self, X: Any, ask: Ask, width: tuple[int, ...]) -> MemberTally:
        """What the members say of rows that need not be those of training."""
        engine, rows = self._asked_about(X)
        return tally(engine, BaggedMembers.of(self).members, rows, ask, width)

    @property
    def estimators_samples_(self) -> list[Array]:
        """Numbers of the rows that each member was given, as often as it was; drawn again."""
        check_is_fitted(self)
        bag = BaggedMembers.of(self)
        return [bag.sample(number) for number in range(len(bag.members))]

    @property
    def feature_importances_(self) -> Array:
        """Mean of the members' importances, where all have them; 0 for columns not given."""
        each = self._importances()
        total: Array = np.zeros(self.n_features_in_)
        for columns, own in zip(self.estimators_features_, each, strict=True):
            np.add.at(total, columns, own)
        return total / len(each)

    def _asked_method(self) -> str:
        """The method by which members are asked."""
        return "predict"

    def get_metadata_routing(self) -> MetadataRouter:
        """What scikit-learn's metadata routing hands on to the members.

        Returns
        -------
        MetadataRouter
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        for method in ("predict", "predict_proba", "predict_log_proba"):
            if hasattr(self, method):
                mapping = mapping.add(caller=method, callee=self._asked_method())
        return MetadataRouter(owner=self).add(estimator=self._prototype(), method_mapping=mapping)

    def _check_state(self) -> None:
        """What a model file must satisfy."""
        BaggedMembers.of(self).check(self.n_features_in_)


def column_count(max_features: float, n_columns: int) -> int:
    """Columns that each member is given.

    Examples
    --------
    >>> column_count(2, 10), column_count(0.5, 9), column_count(0.01, 9)
    (2, 4, 1)
    """
    if not isinstance(max_features, Integral):
        return max(1, int(max_features * n_columns))
    if max_features > n_columns:
        raise ValueError(
            f"max_features={max_features} columns cannot be drawn from {n_columns}: give at most "
            f"{n_columns}, or a share"
        )
    return int(max_features)
