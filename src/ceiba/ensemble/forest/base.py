"""What the forest classifier and the forest regressor share."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np

from ceiba._typing import Array
from ceiba.base import seed_of, validate, watched
from ceiba.base.estimator import schema_attributes
from ceiba.data.source import Source
from ceiba.data.target import Task
from ceiba.data.warn import warn_user
from ceiba.engine import Engine, choose_engine
from ceiba.ensemble.common.oob import OutOfBagWarning
from ceiba.ensemble.common.rows import check_in_memory
from ceiba.ensemble.forest.fitted import OPTIONAL, FittedForest, check_alike
from ceiba.ensemble.forest.grower import Bags, ForestGrower
from ceiba.ensemble.forest.importance import PermutationImportance
from ceiba.ensemble.forest.model import Forest
from ceiba.ensemble.forest.oob import OutOfBag
from ceiba.stats import Labelled, TargetSurvey, ToLabelled
from ceiba.tree.base import check_survey


class RandomForest(FittedForest):
    """Growing, and what training rows tell out of the bag; what is predicted is the subclass's."""

    _task: ClassVar[Task]
    _oob_name: ClassVar[str]

    @watched
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the forest; with ``warm_start`` add trees to it.

        Parameters
        ----------
        X : array, frame, Table or list
            Rows in memory.
        y : array of shape (n_rows,)
            Classes or numbers.
        sample_weight : array of shape (n_rows,), optional
            Rows of weight zero count as absent. Whole weights count as repeated rows; others are
            chances of being drawn, or weights of rows where there is no replacement.

        Returns
        -------
        self : estimator
        """
        validate(self)
        check_options(self)
        check_in_memory(type(self).__name__, X)
        before = getattr(self, "forest_", None) if self.warm_start else None
        engine, source = self._open_rows(X, y, sample_weight, before)
        batch = engine.rows(source.partitions, ToLabelled(self._task))
        survey = engine.reduce(batch, TargetSurvey.of)
        check_survey(survey)
        survey = self._known_classes(survey, before)
        self._check_target(survey)
        bags = self._bags(batch.rows, survey)
        self._check_before(before, bags)
        forest = self._grown(engine, batch, bags, source, before)
        attributes = {
            **schema_attributes(source.schema),
            "forest_": forest,
            **self._more_attributes(survey),
            **self._measured(forest, bags, engine.threads),
        }
        if self._oob_name in attributes:
            # A row of the result for each that was given, rows of weight zero included.
            n_given = len(source.partitions[0].load().table)
            attributes[self._oob_name] = spread(attributes[self._oob_name], bags, n_given)
        self._become(attributes, without=OPTIONAL)
        return self

    def _open_rows(
        self, X: Any, y: Any, sample_weight: Any, before: Forest | None
    ) -> tuple[Engine, Source]:
        """Rows under their own schema, or under that of the trees there are."""
        if before is not None:
            self._check_columns(X)
        return choose_engine(
            X, sample_weight, y=y, supervised=True, n_jobs=self.n_jobs,
            schema=None if before is None else before.schema,
        )  # fmt: skip

    def _known_classes(self, survey: TargetSurvey, before: Forest | None) -> TargetSurvey:
        return survey

    def _check_target(self, survey: TargetSurvey) -> None:
        """Refuse targets that a criterion does not suit."""

    def _check_before(self, before: Forest | None, bags: Bags) -> None:
        """Refuse to add trees where results need all trees to know the same rows."""

    def _member(self) -> Any:
        """The decision tree that every tree of the forest is one of."""
        raise NotImplementedError

    def _member_options(self) -> dict[str, Any]:
        return {
            "criterion": self.criterion, "thresholds": self.thresholds,
            "n_thresholds": self.n_thresholds, "max_bins": self.max_bins, "missing": self.missing,
            "max_depth": self.max_depth, "min_samples_split": self.min_samples_split,
            "min_samples_leaf": self.min_samples_leaf,
            "min_weight_fraction_leaf": self.min_weight_fraction_leaf,
            "min_impurity_decrease": self.min_impurity_decrease,
            "max_leaf_nodes": self.max_leaf_nodes,
            "max_features": None if self.features_per == "tree" else self.max_features,
        }  # fmt: skip

    def _bags(self, rows: Labelled, survey: TargetSurvey) -> Bags:
        return Bags.of(
            rows, survey, self._member(), self.max_samples, self.bootstrap,
            self._class_weights(survey), self._balanced,
        )  # fmt: skip

    @property
    def _balanced(self) -> bool:
        return False

    def _class_weights(self, survey: TargetSurvey) -> Array | None:
        return None

    def _grown(
        self, engine: Engine, batch: Any, bags: Bags, source: Source, before: Forest | None
    ) -> Forest:
        there = 0 if before is None else before.n_trees
        if self.n_estimators < there:
            raise ValueError(
                f"n_estimators={self.n_estimators} must not be less than the {there} trees there "
                "are with warm_start=True: drop trees by without()"
            )
        if before is not None and self.n_estimators == there:
            warn_user(
                f"n_estimators={self.n_estimators} trees are there already, so that warm_start "
                "adds none.",
                UserWarning,
            )
            return before
        first = 0 if before is None else before.grown
        grower = ForestGrower(
            engine, batch, bags, self._member(), source.schema, seed_of(self.random_state),
            self.max_features, self.features_per, self.tree_features,
        )  # fmt: skip
        new = grower.grow(first, first + self.n_estimators - there)
        if before is None:
            return new
        check_alike(before, new)
        return before.joined(new)

    def _measured(self, forest: Forest, bags: Bags, threads: int) -> dict[str, Any]:
        """What is measured on rows out of the bag, as far as it is asked for."""
        measured: dict[str, Any] = {}
        if not (self.oob_score or self.importance):
            return measured
        outside = OutOfBag.of(forest, bags, self._added, threads)
        if self.oob_score:
            mean, count, curve = outside.told()
            warn_inside(int((count == 0).sum()), len(count))
            measured[self._oob_name] = mean
            measured["oob_curve_"] = curve
            measured["oob_score_"] = self._oob_score(mean, count, bags)
        if self.importance:
            measured["oob_importance_"] = outside.permutation_importance(1, 0.95)
        return measured

    def _oob_score(self, mean: Array, count: Array, bags: Bags) -> float:
        raise NotImplementedError

    def _more_attributes(self, survey: TargetSurvey) -> dict[str, Any]:
        return {}

    def oob_importance(
        self, X: Any, y: Any, sample_weight: Any = None, *, repeats: int = 1, level: float = 0.95
    ) -> PermutationImportance:
        """Permutation importance of the columns on rows out of the bag.

        Parameters
        ----------
        X, y, sample_weight
            As they were given to ``fit``.
        repeats : int
            Permutations of each tree and column, 1 to 255.
        level : float
            Confidence of the null band.

        Returns
        -------
        PermutationImportance
        """
        if not isinstance(repeats, Integral) or not 1 <= repeats <= 255:
            raise ValueError(f"repeats={repeats}: give a whole number from 1 to 255")
        if not 0 < level < 1:
            raise ValueError(f"level={level}: give a confidence between 0 and 1")
        outside = self._outside(X, y, sample_weight)
        return outside.permutation_importance(int(repeats), float(level))

    def corrected_importances(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """Decrease of impurity by each column, without the bias of ``feature_importances_``.

        The decrease is told by rows out of the bag: by how much the steps that a tree's means make
        at splits of a column agree with what these rows have above others in the node. So a column
        that says nothing has none on average, however many values it has. Not normalised; chance
        makes some negative.

        Parameters
        ----------
        X, y, sample_weight
            As they were given to ``fit``.

        Returns
        -------
        ndarray of shape (n_features,)

        References
        ----------
        Li, Wang, Basu, Kumbier & Yu (2019), "A debiased MDI feature importance measure for random
        forests", NeurIPS.
        """
        return self._outside(X, y, sample_weight).corrected_importances()

    def _outside(self, X: Any, y: Any, sample_weight: Any) -> OutOfBag:
        check_in_memory(type(self).__name__, X)
        engine, source = self._open(X, sample_weight, reset=False, y=y, task=self._task)
        batch = engine.rows(source.partitions, ToLabelled(self._task))
        survey = engine.reduce(batch, TargetSurvey.of)
        survey = self._known_classes(survey, self.forest_)
        bags = self._bags(batch.rows, survey)
        return OutOfBag.of(self.forest_, bags, self._added, engine.threads)

    def enough_trees(self) -> int | None:
        """The fewest trees whose out-of-bag error is as good as that of all; None: not settled.

        See ``oob_curve_.answer()`` for a sentence.
        """
        self._check_fitted()
        if not hasattr(self, "oob_curve_"):
            raise ValueError("there is no out-of-bag curve: fit with oob_score=True")
        enough: int | None = self.oob_curve_.enough
        return enough


def check_options(model: RandomForest) -> None:
    """Refuse parameters that contradict each other."""
    if (model.tree_features is not None) != (model.features_per == "both"):
        raise ValueError(
            "tree_features is how many columns each tree draws with features_per='both': give both "
            "or neither"
        )
    bagged = model.bootstrap or model.max_samples is not None
    if (model.oob_score or model.importance) and not bagged:
        raise ValueError(
            "out-of-bag numbers need rows that a tree did not draw: set bootstrap=True or "
            "max_samples"
        )
    if model.n_thresholds != 1 and model.thresholds != "random":
        raise ValueError("n_thresholds is for thresholds='random'")
    if model.thresholds == "random" and model.criterion == "absolute_error":
        raise ValueError(
            "absolute error is searched between any two values: set thresholds='midpoint', or use "
            "criterion='squared_error'"
        )


def spread(told: Array, bags: Bags, n_given: int) -> Array:
    """What is said of rows of positive weight, with NaN for the others that were given."""
    kept = bags.given.kept
    if kept is None:
        return told
    every = np.full((n_given, *told.shape[1:]), np.nan)
    every[kept] = told
    return every


def warn_inside(rows: int, n: int) -> None:
    """Say that some rows, or all, were in every bag."""
    if rows:
        warn_user(
            f"{rows} of {n} rows are in the bag of every tree, so that they have no out-of-bag "
            "prediction (NaN) and do not count in oob_score_: grow more trees, or lower "
            "max_samples.",
            OutOfBagWarning,
        )
