"""What the boosted classifier and the boosted regressor share: the rounds, and the members."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import _check_method_params, check_is_fitted

from ceiba.base import Estimator, Steps, seed_of, validate, watched
from ceiba.data.table import Table
from ceiba.data.target import Task
from ceiba.engine import Engine, LocalEngine
from ceiba.ensemble.bagging_rows import (
    MemberRows,
    check_in_memory,
    given_rows,
    own_rows,
    takes_table,
)
from ceiba.ensemble.bagging_training import Training
from ceiba.ensemble.boost_learner import AnyLearner, RoundLearner, check_weights
from ceiba.ensemble.boost_round import Round
from ceiba.ensemble.boost_trees import TreeLearner, grows_on_codes
from ceiba.ensemble.boost_voices import Voice
from ceiba.ensemble.boost_weights import RowWeights
from ceiba.stats.labelled import Labelled
from ceiba.stats.points import Array
from ceiba.tree.decision_tree import DecisionTree

# Rows of a table that all members are asked about before the next: they stay in a core's cache.
# 100 stumps on 50,000 x 28 numbers take a third of the time that one pass a stump takes.
_BLOCK = 8192


@dataclass(slots=True, eq=False)
class Committee:
    """The members so far, each with its say and its error."""

    members: list[Any] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    stopped: str = "rounds"

    def add(self, member: Any, alpha: float, error: float) -> None:
        """One more."""
        self.members.append(member)
        self.alphas.append(alpha)
        self.errors.append(error)

    def attributes(self) -> dict[str, Any]:
        """What a fitted estimator keeps of it."""
        return {
            "estimators_": list(self.members),
            "estimator_weights_": np.array(self.alphas),
            "estimator_errors_": np.array(self.errors),
            "stopped_": self.stopped,
        }


class Boosting(Estimator):
    """Rounds of boosting; how a member is judged and how members decide is the subclass's."""

    _task: ClassVar[Task]
    # The kind of estimator that members are, in scikit-learn's word.
    _kind: ClassVar[str]
    _usual_depth: ClassVar[int]
    estimators_: list[Any]
    estimator_weights_: Array
    estimator_errors_: Array
    stopped_: str
    n_features_in_: int

    @watched
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Boost: fit a member, weigh the rows that it errs on more, and so on.

        Parameters
        ----------
        X : array, frame, Table or list
            Rows in memory. Members of Ceiba's own are given a Table, others the rows as they came.
        y : array of shape (n_rows,)
            Classes or numbers.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row before the first round; rows of weight zero count as absent. In
            later rounds what became of a weight is told to 2^-36 of the most that became of any,
            and is no less than that.
        **fit_params : dict
            Metadata for the members' ``fit``, where scikit-learn's metadata routing is on.

        Returns
        -------
        self : estimator
        """
        params = self._routed(fit_params)
        check_in_memory(type(self).__name__, X, y, sample_weight)
        validate(self)
        estimator = clone(self._prototype())
        self._check_estimator(estimator)
        engine, rows = self._opened(X, takes_table(estimator), y=y, reset=True)
        training = Training.of(rows, y, sample_weight, self._task)
        params = _check_method_params(rows.data, params, training.kept)
        weighing = training.weighing()
        learnt = {**rows.attributes, **self._more_attributes(weighing)}
        learner = self._learner(engine, estimator, weighing, params)
        steps = Steps(self, self.n_estimators, trace=self.trace, name="rounds")
        recorded = partial(placed, training.kept, len(rows))
        committee = self._boost(learner, weighing, steps, recorded, learnt)
        if steps.trace is not None:
            learnt["trace_"] = steps.trace
        self._keep({**learnt, **committee.attributes()})
        return self

    def _boost(
        self,
        learner: RoundLearner,
        training: Training,
        steps: Steps,
        recorded: Callable[[Array], Array],
        learnt: dict[str, Any],
    ) -> Committee:
        """The rounds; ``recorded`` makes values of the rows that weigh those of all rows."""
        committee = Committee()
        weights = RowWeights.first(training.weight, len(training.rows))
        for step in steps:
            own = weights.values
            member, told = learner.learn(own, len(committee.members))
            found, seen = self._judged(told, training, own)
            shown = {"weights": own, **seen}
            late = {name: partial(recorded, rows) for name, rows in shown.items()}
            committee.stopped = found.stop or committee.stopped
            if found.stop == "chance":
                if not committee.members:
                    self._take_first(committee, member, found)
                # The first of a regressor is kept, and has its say; others have none.
                say = committee.alphas[0] if step.number == 1 else 0.0
                step.record(error=found.error, alpha=say, **late)
                break
            step.record(error=found.error, alpha=found.alpha, **late)
            committee.add(member, found.alpha, found.error)
            step.offer(lambda: {**learnt, **committee.attributes()})
            if found.factors is None:
                break
            weights = weights.times(found.factors)
        return committee

    def _voice(self, classes: Array | None) -> Voice:
        """How members are asked."""
        raise NotImplementedError

    def _judged(
        self, told: Array, training: Training, weights: Array
    ) -> tuple[Round, dict[str, Array]]:
        """What a member's word comes to, and what of the rows is recorded beside their weights."""
        raise NotImplementedError

    def _take_first(self, committee: Committee, member: Any, found: Round) -> None:
        """The first member of all is no better than a guess."""
        raise NotImplementedError

    def _own_tree(self) -> DecisionTree:
        """The member where no estimator is given."""
        raise NotImplementedError

    def _more_attributes(self, training: Training) -> dict[str, Any]:
        return {}

    def _prototype(self) -> Any:
        return self._own_tree() if self.estimator is None else self.estimator

    def _check_estimator(self, estimator: Any) -> None:
        if self.estimator is None:
            return
        name, kind = type(estimator).__name__, get_tags(estimator).estimator_type
        if kind not in (None, self._kind):
            raise ValueError(
                f"{type(self).__name__} is for {self._task}, and its estimator {name} is a {kind}"
            )
        if self.max_depth != self._usual_depth or self.max_bins is not None:
            raise ValueError(
                "max_depth and max_bins are those of Ceiba's own tree: leave them out, and set "
                f"what {name} has of that kind on the estimator itself"
            )
        if self.by == "weights":
            check_weights(estimator)

    def _opened(
        self, X: Any, own: bool, *, y: Any = None, reset: bool
    ) -> tuple[Engine, MemberRows]:
        return own_rows(self, X, y=y, reset=reset) if own else given_rows(self, X, reset=reset)

    def _learner(
        self, engine: Engine, estimator: Any, training: Training, params: dict[str, Any]
    ) -> RoundLearner:
        voice, seed = self._voice(training.classes), seed_of(self.random_state)
        draws = self.by == "draws"
        if self.estimator is None or grows_on_codes(estimator):
            rows = Labelled(training.rows.data, training.target, training.weight)
            return TreeLearner.of(estimator, rows, engine, voice, seed, draws)
        return AnyLearner(estimator, training, voice, seed, draws, engine.threads, params)

    def _keep(self, attributes: dict[str, Any]) -> None:
        old = [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]
        for name in old:
            delattr(self, name)
        self.__dict__.update(attributes)

    def _rows_of(self, X: Any) -> tuple[Any, int]:
        """Rows that need not be those of training, as members take them, and threads for them."""
        check_is_fitted(self)
        check_in_memory(type(self).__name__, X)
        engine, rows = self._opened(X, "schema_" in vars(self), reset=False)
        return rows.data, engine.threads

    def _told(self, data: Any, threads: int) -> Iterator[Array]:
        """What each member says of rows."""
        voice = self._voice(getattr(self, "classes_", None))
        return (voice.of(member, data, threads) for member in self.estimators_)

    def _by_blocks(self, X: Any, verdict: Callable[[Any, int], Array]) -> Array:
        """The verdict on all rows: those of tables in blocks, side by side."""
        data, threads = self._rows_of(X)
        if not isinstance(data, Table) or len(data) <= _BLOCK:
            return verdict(data, threads)
        blocks = [data.take(slice(at, at + _BLOCK)) for at in range(0, len(data), _BLOCK)]
        parts = LocalEngine(threads).map(lambda block: verdict(block, 1), blocks)
        return np.concatenate(parts)

    @property
    def feature_importances_(self) -> Array:
        """Mean of the members' importances, weighted by their say, where all have them."""
        check_is_fitted(self)
        if not all(hasattr(member, "feature_importances_") for member in self.estimators_):
            name = type(self.estimators_[0]).__name__
            raise AttributeError(f"{name} has no feature_importances_, and so its committee none")
        each = np.array([member.feature_importances_ for member in self.estimators_])
        return np.asarray(np.average(each, axis=0, weights=self.estimator_weights_))

    def _routed(self, params: dict[str, Any]) -> dict[str, Any]:
        """Metadata of ``fit`` that members have asked for."""
        _raise_for_params(params, self, "fit")
        if not _routing_enabled():
            return {}
        found: dict[str, Any] = dict(process_routing(self, "fit", **params)["estimator"]["fit"])
        return found

    def get_metadata_routing(self) -> MetadataRouter:
        """What scikit-learn's metadata routing hands on to the members.

        ``sample_weight`` is for the committee itself, which weighs the rows for its members.

        Returns
        -------
        MetadataRouter
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self._prototype(), method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._prototype()).input_tags
        for name in ("allow_nan", "categorical", "string"):
            setattr(tags.input_tags, name, getattr(inner, name))
        return tags

    def _check_state(self) -> None:
        """What a model file must satisfy."""
        n_members = len(self.estimators_)
        alphas, errors = self.estimator_weights_, self.estimator_errors_
        if n_members == 0 or alphas.shape != (n_members,) or errors.shape != (n_members,):
            raise ValueError("estimators_ must hold members, each with its weight and its error")
        if not (np.isfinite(alphas).all() and (alphas > 0).all()):
            raise ValueError("estimator_weights_ must be positive")
        if self.stopped_ not in ("rounds", "perfect", "chance"):
            raise ValueError("stopped_ must say why boosting ended")
        if any(member.n_features_in_ != self.n_features_in_ for member in self.estimators_):
            raise ValueError("all members must have the columns of the committee")


def placed(kept: Array | None, n_given: int, values: Array) -> Array:
    """Values of the rows that were kept, at their places among those given; 0 elsewhere."""
    if kept is None:
        return values
    every = np.zeros(n_given, values.dtype)
    every[kept] = values
    return every
