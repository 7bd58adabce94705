"""The verdict of a boosted committee on rows: what its members say for each class, put together."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score

from ceiba._typing import Array
from ceiba.data.target import Target, Task, class_places
from ceiba.ensemble.adaboost.base import BoostedMembers, Boosting, Round
from ceiba.ensemble.adaboost.formulas import log_shares, m1, real, samme
from ceiba.ensemble.adaboost.predictions import Places, Shares, Voice
from ceiba.ensemble.common.base import check_classes, class_attributes
from ceiba.ensemble.common.parameters import (
    By,
    CommitteeSeed,
    KeepRounds,
    LearningRate,
    MemberEstimator,
    Rounds,
    TreeBins,
    TreeDepth,
)
from ceiba.ensemble.common.rows import TrainingRows
from ceiba.ensemble.common.votes import lead
from ceiba.tree.base import DecisionTree
from ceiba.tree.classifier import DecisionTreeClassifier
from ceiba.tree.parameters import Jobs

T = TypeVar("T")


def voted(places: Array, n_classes: int, alpha: float) -> Array:
    """What a discrete member says: its say for a class, and -say / (n_classes - 1) for the others.

    Examples
    --------
    >>> import numpy as np
    >>> voted(np.array([2, 0]), 3, 1.0)
    array([[-0.5, -0.5,  1. ],
           [ 1. , -0.5, -0.5]])
    """
    against = -alpha / max(1, n_classes - 1)
    said = np.full((n_classes, n_classes), against)
    np.fill_diagonal(said, alpha)
    return said[places]


def spoken(shares: Array) -> Array:
    """What a member says by its probabilities (Zhu et al. 2009, algorithm 4, step 2 c)."""
    logs = log_shares(shares)
    said: Array = (shares.shape[1] - 1) * (logs - logs.mean(axis=1, keepdims=True))
    return said


def decision(said: Array, norm: float) -> Array:
    """The mean of what was said; for two classes the second's less the first's."""
    mean: Array = said / norm
    return mean[:, 1] - mean[:, 0] if mean.shape[1] == 2 else mean


def probabilities(said: Array, norm: float) -> Array:
    """Probabilities that fit what was said (Zhu et al. 2009, equation 15)."""
    found: Array = softmax(said / (norm * max(1, said.shape[1] - 1)), axis=1)
    return found


def margin(said: Array, reach: Array, labels: Array) -> Array:
    """By how much a row's class leads, as a share of ``reach``; 1 where there is no other class.

    Parameters
    ----------
    said : ndarray of shape (n_rows, n_classes)
    reach : ndarray of shape (n_rows,)
        The most that members could have said apart.
    labels : ndarray of shape (n_rows,)
        Places of the rows' classes.
    """
    if said.shape[1] == 1:
        return np.ones(len(said))
    ahead = lead(said, labels)
    found: Array = np.divide(ahead, reach, out=np.zeros(len(said)), where=reach > 0)
    return np.clip(found, -1.0, 1.0, out=found)


def last_of(stages: Iterable[T]) -> T:
    """The last of some stages, of which no other is kept."""
    (last,) = deque(stages, maxlen=1)
    return last


class AdaBoostClassifier(ClassifierMixin, Boosting):
    """Committee of classifiers, each fitted to rows weighted by the mistakes of those before.

    A round fits a member to the weighted rows, gives it a say by its error, and weighs the rows
    that it gets wrong more. It ends early when a member is perfect, which is kept with a say of 1,
    or no better than a guess, which is not kept. Members are Ceiba's own trees, which take gaps
    and nominal columns as they are, or copies of any estimator, given the rows as they came. Rows
    must be in memory.

    {parameters}

    Attributes
    ----------
    estimators_ : list of estimators
        The members.
    estimator_weights_ : ndarray of shape (n_members,)
        Their say; 1 each with algorithm="real".
    estimator_errors_ : ndarray of shape (n_members,)
        Weight of the rows that each got wrong, as a share of all.
    stopped_ : "rounds", "perfect" or "chance"
        Why there are no more members.
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    feature_importances_ : ndarray of shape (n_features,)
        Mean of the members' importances, weighted by their say.
    trace_ : Trace
        With ``trace=True``, a frame a round: ``weights`` of the rows before it, its ``error`` and
        ``alpha`` (say; 0 where the member is not kept) and which rows it got ``wrong``. Rows of
        weight zero weigh nothing and are not wrong. At most 1000 frames and 64 MB.
    n_features_in_, feature_names_in_, schema_
        What the columns were; the schema for Ceiba's own members.

    Examples
    --------
    >>> from ceiba import AdaBoostClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> model = AdaBoostClassifier(n_estimators=20, max_depth=2).fit(iris.table, iris.y)
    >>> model.score(iris.table, iris.y) > 0.97, len(model.estimators_)
    (True, 20)

    References
    ----------
    Freund & Schapire (1997), "A decision-theoretic generalization of on-line learning and an
    application to boosting", Journal of Computer and System Sciences 55.
    Zhu, Zou, Rosset & Hastie (2009), "Multi-class AdaBoost", Statistics and Its Interface 2.
    """

    _task: ClassVar[Task] = "classification"
    _kind: ClassVar[str] = "classifier"
    _usual_depth: ClassVar[int] = 1
    classes_: Array
    n_classes_: int

    def __init__(
        self,
        estimator: MemberEstimator = None,
        *,
        n_estimators: Rounds = 50,
        learning_rate: LearningRate = 1.0,
        algorithm: Annotated[
            Literal["samme", "m1", "real"],
            "SAMME asks each member to be better than a guess among all classes; AdaBoost.M1 to be "
            "right for more than half of the weight. They are the same for two classes. With "
            "'real' (SAMME.R) members speak by the logarithms of their probabilities, in which 0 "
            "counts as 2^-52, and no row's weight falls below some 2^-36 of the largest: where "
            "leaves are pure, rounds differ from those of the plain rule.",
        ] = "samme",
        max_depth: TreeDepth = 1,
        max_bins: TreeBins = None,
        by: By = "weights",
        random_state: CommitteeSeed = 0,
        n_jobs: Jobs = None,
        trace: KeepRounds = False,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.algorithm = algorithm
        self.max_depth = max_depth
        self.max_bins = max_bins
        self.by = by
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.trace = trace

    def decision_function(self, X: Any) -> Array:
        """What the committee says for each class: the mean of its members' word, by their say.

        A member says 1 for the class that it predicts and -1 / (n_classes - 1) for the others;
        with algorithm="real" (n_classes - 1) times how far the logarithm of a class's probability
        is above their mean.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns as in ``classes_``. For two classes of shape (n_rows,): what is said for the
            second less what is said for the first.
        """
        return decision(self._verdict(X), self._norm)

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """`decision_function` of the committee after each round."""
        for said, norm in self._stages(*self._rows_of(X)):
            yield decision(said, norm)

    def predict(self, X: Any) -> Array:
        """The class that the committee says most for; of two the first.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        places = self._verdict(X).argmax(axis=1)
        classes: Array = self.classes_[places]
        return classes

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """`predict` of the committee after each round."""
        for said, _ in self._stages(*self._rows_of(X)):
            yield self.classes_[said.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities, proportional to exp(decision / (n_classes - 1)).

        They rank rows, but are not calibrated: see `sklearn.calibration.CalibratedClassifierCV`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns as in ``classes_``.
        """
        return probabilities(self._verdict(X), self._norm)

    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """`predict_proba` of the committee after each round."""
        for said, norm in self._stages(*self._rows_of(X)):
            yield probabilities(said, norm)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the class probabilities."""
        logs: Array = np.log(self.predict_proba(X))
        return logs

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Share of the rows whose class the committee predicts, after each round.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.
        """
        for said in self.staged_predict(X):
            yield float(accuracy_score(y, said, sample_weight=sample_weight))

    def margins(self, X: Any, y: Any) -> Array:
        """By how much the committee speaks for each row's class rather than for any other.

        It is what is said for the class less the most that is said for another, as a share of the
        most that its members could have said apart: 1 where all are right, -1 where all are wrong
        and of one mind.

        Parameters
        ----------
        X : array, frame, Table or list
        y : array of shape (n_rows,)
            The classes.

        Returns
        -------
        ndarray of shape (n_rows,)
            From -1 to 1; 0 where the committee says nothing.

        References
        ----------
        Schapire, Freund, Bartlett & Lee (1998), "Boosting the margin: a new explanation for the
        effectiveness of voting methods", Annals of Statistics 26.

        Examples
        --------
        >>> import numpy as np
        >>> from ceiba import AdaBoostClassifier
        >>> X, y = np.arange(6.0).reshape(-1, 1), [0, 0, 1, 1, 0, 0]
        >>> AdaBoostClassifier(n_estimators=3).fit(X, y).margins(X, y).round(2)
        array([0.05, 0.05, 0.59, 0.59, 0.35, 0.35])
        """
        total, reach = np.zeros(()), np.zeros(())
        for said in self._said(*self._rows_of(X)):
            total = total + said
            reach = reach + (said.max(axis=1) - said.min(axis=1))
        target = Target.of(y, len(total))
        assert target.classes is not None
        return margin(total, reach, class_places(target.classes, self.classes_)[target.values])

    def _verdict(self, X: Any) -> Array:
        """What the whole committee says for each class, not yet as a mean."""
        return self._by_blocks(X, lambda *rows: last_of(self._stages(*rows))[0])

    @property
    def _norm(self) -> float:
        return float(sum(self.estimator_weights_.tolist()))

    def _stages(self, data: Any, threads: int) -> Iterator[tuple[Array, float]]:
        """What is said for each class after each round, and the say of those who said it.

        The array is the same in all rounds, added to.
        """
        total, norm = np.zeros(()), 0.0
        alphas = self.estimator_weights_.tolist()
        for said, alpha in zip(self._said(data, threads), alphas, strict=True):
            total = np.add(total, said, out=total if total.ndim else None)
            norm += alpha
            yield total, norm

    def _said(self, data: Any, threads: int) -> Iterator[Array]:
        """What each member says for each class, times its say."""
        n_classes, alphas = len(self.classes_), self.estimator_weights_.tolist()
        for told, alpha in zip(self._told(data, threads), alphas, strict=True):
            yield spoken(told) if self.algorithm == "real" else voted(told, n_classes, alpha)

    def _voice(self, classes: Array | None) -> Voice:
        assert classes is not None
        return Shares(classes) if self.algorithm == "real" else Places(classes)

    def _judged(
        self, told: Array, training: TrainingRows, weights: Array
    ) -> tuple[Round, dict[str, Array]]:
        labels, rate = training.target.values, float(self.learning_rate)
        if self.algorithm == "real":
            found, wrong = real(told, labels, weights, rate)
            return found, {"wrong": wrong}
        wrong = told != labels
        if self.algorithm == "m1":
            return m1(wrong, weights, rate), {"wrong": wrong}
        assert training.classes is not None
        return samme(wrong, weights, rate, len(training.classes)), {"wrong": wrong}

    def _take_first(self, boosted: BoostedMembers, member: Any, found: Round) -> None:
        rule, advice = "is no better than a guess", "let it look deeper (max_depth)"
        if self.algorithm == "m1":
            rule, advice = "M1 wants to be less than half", f"use algorithm='samme', {advice}"
        raise ValueError(
            f"the first member, a {type(member).__name__}, is wrong for {found.error:.1%} of the "
            f"weight, which {rule}, and so there is nothing to boost: {advice}, or give another "
            "estimator"
        )

    def _usual(self) -> DecisionTree:
        return DecisionTreeClassifier(
            max_depth=self.max_depth, max_bins=self.max_bins, n_jobs=self.n_jobs
        )

    def _check_estimator(self, estimator: Any) -> None:
        super()._check_estimator(estimator)
        if self.algorithm == "real" and not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"algorithm='real' asks members for probabilities, and {type(estimator).__name__} "
                "has no predict_proba: use algorithm='samme'"
            )

    def _more_attributes(self, training: TrainingRows) -> dict[str, Any]:
        return class_attributes(training.classes)

    def _check_state(self) -> None:
        super()._check_state()
        check_classes(self)
