"""What the boosted classifier and the boosted regressor share: the rounds, and the members."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import _check_method_params

from ceiba._typing import Array
from ceiba.base import Steps, seed_of, watched
from ceiba.data.table import Table
from ceiba.engine import Engine, LocalEngine
from ceiba.ensemble.adaboost.learners import (
    AnyLearner,
    RoundLearner,
    TreeLearner,
    check_weights,
    grows_on_codes,
    in_round,
)
from ceiba.ensemble.adaboost.predictions import Voice
from ceiba.ensemble.adaboost.weights import RowWeights
from ceiba.ensemble.common.base import Committee
from ceiba.ensemble.common.rows import TrainingRows
from ceiba.stats.rows import Labelled

Stop = Literal["perfect", "chance"]


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """A learner's error, its say in the committee, and what its mistakes do to the rows.

    Parameters
    ----------
    error : float
        Weight of the rows that it gets wrong, or its average loss: a share of all weight.
    alpha : float
        Its say; 0 where it is not kept.
    factors : ndarray or None
        What the weight of each row is to be multiplied by, at most 1 and up to a common factor;
        None where boosting ends.
    stop : "perfect", "chance" or None
        Why boosting ends with this round, if it does.
    """

    error: float
    alpha: float
    factors: Array | None
    stop: Stop | None = None

    @classmethod
    def perfect(cls) -> Round:
        """Nothing is wrong: the learner has a say of 1, and there is nothing to weigh anew."""
        return cls(0.0, 1.0, None, "perfect")

    @classmethod
    def chance(cls, error: float) -> Round:
        """The learner is no better than a guess."""
        return cls(error, 0.0, None, "chance")


@dataclass(slots=True, eq=False)
class BoostedMembers:
    """The members so far, each with its say and its error, and why there are no more."""

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
        """What a fitted estimator keeps of them."""
        return {
            "estimators_": list(self.members),
            "estimator_weights_": np.array(self.alphas),
            "estimator_errors_": np.array(self.errors),
            "stopped_": self.stopped,
        }


def check_members(members: list[Any], alphas: Array, errors: Array, stopped: str) -> None:
    """Refuse members, says and errors that do not fit together, as a file may hold."""
    if not members or alphas.shape != (len(members),) or errors.shape != (len(members),):
        raise ValueError("estimators_ must hold members, each with its weight and its error")
    if not (np.isfinite(alphas).all() and (alphas > 0).all()):
        raise ValueError("estimator_weights_ must be positive")
    if stopped not in ("rounds", "perfect", "chance"):
        raise ValueError("stopped_ must say why boosting ended")


# Rows of a table that all members are asked about before the next: they stay in a core's cache.
# 100 stumps on 50,000 x 28 numbers take a third of the time that one pass a stump takes.
_BLOCK = 8192


class Boosting(Committee):
    """Rounds of boosting; how a member is judged and how members decide is the subclass's."""

    _usual_depth: ClassVar[int]
    estimator_weights_: Array
    estimator_errors_: Array
    stopped_: str

    @watched
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Boost: fit a member, weigh the rows that it errs on more, and so on.

        Parameters
        ----------
        X : array, frame, Table or list
            Rows in memory. Members of Ceiba's own are given a Table, others the rows as they came,
            and a Table as the array it was made of or as a pandas frame.
        y : array of shape (n_rows,)
            Classes or numbers.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row before the first round; rows of weight zero count as absent. What
            rounds make of it is kept in steps of at most 2^-35 of the most that they make of any,
            and never falls below one step.
        **fit_params : dict
            Metadata for the members' ``fit``, where scikit-learn's metadata routing is on.

        Returns
        -------
        self : estimator
        """
        estimator, params = self._begun(fit_params, X, y, sample_weight)
        engine, training = self._learning(estimator, X, y, sample_weight, reset=True)
        params = _check_method_params(training.rows.data, params, training.kept)
        weighing = training.weighing()
        learnt = {**training.rows.attributes, **self._more_attributes(weighing)}
        learner = self._learner(engine, estimator, weighing, params)
        steps = Steps(self, self.n_estimators, trace=self.trace, name="rounds")
        boosted = self._boost(learner, weighing, steps, training.placed, learnt)
        if steps.trace is not None:
            learnt["trace_"] = steps.trace
        self._keep({**learnt, **boosted.attributes()})
        return self

    def _boost(
        self,
        learner: RoundLearner,
        training: TrainingRows,
        steps: Steps,
        recorded: Callable[[Array], Array],
        learnt: dict[str, Any],
    ) -> BoostedMembers:
        """The rounds; ``recorded`` makes values of the rows that weigh those of all rows."""
        boosted = BoostedMembers()
        weights = RowWeights.first(training.weight, len(training.rows))
        for step in steps:
            own = weights.values
            member, told = learner.learn(own, len(boosted.members))
            found, seen = self._judged(told, training, own)
            shown = {"weights": own, **seen}
            late = {name: partial(recorded, rows) for name, rows in shown.items()}
            boosted.stopped = found.stop or boosted.stopped
            if found.stop == "chance":
                if not boosted.members:
                    self._take_first(boosted, member, found)
                # The first of a regressor is kept, and has its say; others have none.
                say = boosted.alphas[0] if step.number == 1 else 0.0
                step.record(error=found.error, alpha=say, **late)
                break
            step.record(error=found.error, alpha=found.alpha, **late)
            boosted.add(member, found.alpha, found.error)
            step.offer(lambda: {**learnt, **boosted.attributes()})
            if found.factors is None:
                break
            weights = weights.times(found.factors)
        return boosted

    def _voice(self, classes: Array | None) -> Voice:
        """How members are asked."""
        raise NotImplementedError

    def _judged(
        self, told: Array, training: TrainingRows, weights: Array
    ) -> tuple[Round, dict[str, Array]]:
        """What a member's word comes to, and what of the rows is recorded beside their weights."""
        raise NotImplementedError

    def _take_first(self, boosted: BoostedMembers, member: Any, found: Round) -> None:
        """The first member of all is no better than a guess."""
        raise NotImplementedError

    def _more_attributes(self, training: TrainingRows) -> dict[str, Any]:
        return {}

    def _check_estimator(self, estimator: Any) -> None:
        if self.estimator is None:
            return
        super()._check_estimator(estimator)
        if self.max_depth != self._usual_depth or self.max_bins is not None:
            raise ValueError(
                "max_depth and max_bins are those of Ceiba's own tree: leave them out, and set "
                f"what {type(estimator).__name__} has of that kind on the estimator itself"
            )
        if self.by == "weights":
            check_weights(estimator)

    def _learner(
        self, engine: Engine, estimator: Any, training: TrainingRows, params: dict[str, Any]
    ) -> RoundLearner:
        voice, seed = self._voice(training.classes), seed_of(self.random_state)
        draws = self.by == "draws"
        if self.estimator is None or grows_on_codes(estimator):
            rows = Labelled(training.rows.data, training.target, training.weight)
            return TreeLearner.of(estimator, rows, engine, voice, seed, draws)
        return AnyLearner(estimator, training, voice, seed, draws, engine.threads, params)

    def _rows_of(self, X: Any) -> tuple[Any, int]:
        """Rows that need not be those of training, as members take them, and threads for them."""
        engine, rows = self._asked_about(X)
        return rows.data, engine.threads

    def _told(self, data: Any, threads: int) -> Iterator[Array]:
        """What each member says of rows."""
        voice = self._voice(getattr(self, "classes_", None))
        for number, member in enumerate(self.estimators_):
            with in_round(number, "could not predict"):
                told = voice.of(member, data, threads)
            yield told

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
        each = np.array(self._importances())
        return np.asarray(np.average(each, axis=0, weights=self.estimator_weights_))

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

    def _check_state(self) -> None:
        """What a model file must satisfy."""
        alphas, errors = self.estimator_weights_, self.estimator_errors_
        check_members(self.estimators_, alphas, errors, self.stopped_)
        if any(member.n_features_in_ != self.n_features_in_ for member in self.estimators_):
            raise ValueError("all members must have the columns of the committee")
