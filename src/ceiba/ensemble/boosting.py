"""What the boosted classifier and the boosted regressor share: the rounds, and the members."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import _check_method_params

from ceiba.base import Steps, seed_of, watched
from ceiba.data.table import Table
from ceiba.engine import Engine, LocalEngine
from ceiba.ensemble.boost_learner import AnyLearner, RoundLearner, check_weights, in_round
from ceiba.ensemble.boost_members import BoostedMembers, check_members
from ceiba.ensemble.boost_round import Round
from ceiba.ensemble.boost_trees import TreeLearner, grows_on_codes
from ceiba.ensemble.boost_voices import Voice
from ceiba.ensemble.boost_weights import RowWeights
from ceiba.ensemble.committee import Committee
from ceiba.ensemble.training_rows import TrainingRows
from ceiba.stats.labelled import Labelled
from ceiba.stats.points import Array

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
