"""Ensembles of trees under MATLAB's names: bagging and AdaBoost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.compat.matlab.inputs import (
    Response,
    read_data,
    read_prior,
    read_rows,
    rows_to_predict,
)
from ceiba.compat.matlab.name_value import NameValue, check_nargout
from ceiba.data.table import Table
from ceiba.ensemble import AdaBoostClassifier, RandomForestClassifier
from ceiba.tree import DecisionTreeClassifier

METHODS = ("Bag", "AdaBoostM1", "AdaBoostM2")
_OPTIONS = (
    "CategoricalPredictors", "ClassNames", "FResample", "Learners", "LearnRate", "Method",
    "NumLearningCycles", "PredictorNames", "Prior", "random_state", "Replace", "ResponseName",
    "Weights",
)  # fmt: skip
_TREE_OPTIONS = (
    "MaxNumSplits", "MinLeafSize", "MinParentSize", "NumVariablesToSample", "SplitCriterion",
)  # fmt: skip
_CRITERIA = {"gdi": "gini", "deviance": "entropy"}
# Methods that Ceiba does not have, and why.
_OTHER_METHODS = {
    "LogitBoost": "it fits regression trees to the logistic loss",
    "GentleBoost": "it fits regression trees",
    "LPBoost": "it needs linear programming",
    "TotalBoost": "it needs quadratic programming",
    "RobustBoost": "its weights depend on a time that is solved for",
    "RUSBoost": "it undersamples the larger classes in every round",
    "Subspace": "it needs discriminants or nearest neighbors",
}
_CROSS_VALIDATION = "cross-validate with scikit-learn, cross_val_score(ens.model, X, Y)"
_UNSUPPORTED = {
    **dict.fromkeys(("CrossVal", "CVPartition", "Holdout", "KFold", "Leaveout"), _CROSS_VALIDATION),
    "Cost": "give Prior with every class's prior times its row's sum in Cost",
    "NPrint": "leave it out: nothing is printed",
    "NumBins": "set max_bins of Ceiba's own ensembles",
    "OptimizeHyperparameters": "search with scikit-learn's GridSearchCV over Ceiba's ensembles",
    "Options": "leave it out: every core is used, and random_state seeds the draws",
    "Resample": "leave it out: 'Bag' draws rows, and boosting weights them",
    "ScoreTransform": "transform the scores that predict returns",
}


def templateTree(*pairs: Any, **named: Any) -> dict[str, Any]:
    """Return the options of the trees of `fitcensemble`.

    Parameters
    ----------
    *pairs, **named
        ``MaxNumSplits``, ``MinLeafSize``, ``MinParentSize``, ``NumVariablesToSample`` (an int or
        "all"; only for bagging) and ``SplitCriterion``.

    Returns
    -------
    dict

    Examples
    --------
    >>> from ceiba.compat.matlab import templateTree
    >>> templateTree("MaxNumSplits", 5)
    {'MaxNumSplits': 5}
    """
    return dict(NameValue.read("templateTree", _TREE_OPTIONS, pairs, named, {}).given)


@dataclass(frozen=True, eq=False)
class ClassificationEnsemble:
    """An ensemble of classification trees, as `fitcensemble` returns it.

    Parameters
    ----------
    model : RandomForestClassifier or AdaBoostClassifier
        Ceiba's own, which does more.
    Method : {"Bag", "AdaBoostM1", "AdaBoostM2"}
    ClassNames : ndarray
    Prior : ndarray
    ResponseName : str
    columns, response
        Training rows.
    """

    model: Any
    Method: str
    ClassNames: Array
    Prior: Array
    ResponseName: str
    columns: Table
    response: Response

    def __repr__(self) -> str:
        return (
            f"ClassificationEnsemble\n  Method: {self.Method}\n  NumTrained: {self.NumTrained}\n"
            f"  ClassNames: {self.ClassNames.tolist()}\n  NumObservations: {self.NumObservations}"
        )

    @property
    def NumTrained(self) -> int:
        """Number of trees; boosting may end before ``NumLearningCycles``."""
        if self.Method == "Bag":
            return int(self.model.n_estimators)
        return len(self.model.estimator_weights_)

    @property
    def NumObservations(self) -> int:
        """Number of training rows."""
        return len(self.response.values)

    @property
    def TrainedWeights(self) -> Array:
        """Weights of the trees: ones for a bag, 1/2 log((1 - error) / error) for AdaBoostM1."""
        if self.Method == "Bag":
            return np.ones(self.NumTrained)
        weights = np.asarray(self.model.estimator_weights_)
        # Freund and Schapire's weights, which AdaBoostClassifier has, are twice MATLAB's.
        return weights / 2 if self.Method == "AdaBoostM1" else weights

    @property
    def PredictorNames(self) -> list[str]:
        """Names of the columns."""
        return self.columns.schema.names

    def predict(self, X: Any, *, nargout: int = 1) -> Any:
        """Predict rows.

        Returns
        -------
        label : ndarray
        score : ndarray of shape (n_rows, k)
            With ``nargout=2``. Of a bag the mean class probabilities; of AdaBoost the sum of the
            weights of the trees that predict the class, minus that of the others.
        """
        check_nargout(nargout, 2)
        score = self._scores(rows_to_predict(X, self.columns.schema))
        label = self.ClassNames[score.argmax(axis=1)]
        return label if nargout == 1 else (label, score)

    def _scores(self, table: Table) -> Array:
        if self.Method == "Bag":
            return np.asarray(self.model.predict_proba(table))
        votes, rows = np.zeros((len(table), len(self.ClassNames))), np.arange(len(table))
        for tree, weight in zip(self.model.estimators_, self.TrainedWeights, strict=True):
            votes[rows, tree.predict(table)] += weight
        return np.asarray(2 * votes - self.TrainedWeights.sum())

    def loss(self, X: Any, Y: Any, *pairs: Any, **named: Any) -> float:
        """Return the fraction of rows with a wrong class.

        Parameters
        ----------
        X : array, frame or Table
        Y : array, or str
            The true classes, or the name of the column of ``X`` that holds them.
        *pairs, **named
            ``Weights`` of the rows; in each class they are scaled to its ``Prior``.
        """
        options = NameValue.read("loss", ("Weights",), pairs, named, {})
        table, Y, _ = read_data(X, Y)
        response = Response.of(Y, options, len(table), classification=True)
        return self._error(self.predict(table.take(response.rows)), response)

    def resubLoss(self) -> float:
        """Return the fraction of training rows with a wrong class."""
        return self._error(self.predict(self.columns), self.response)

    def oobLoss(self) -> float:
        """Return the out-of-bag error of a bag."""
        if self.Method != "Bag":
            raise ValueError(f"oobLoss requires Method='Bag', got {self.Method!r}.")
        return float(1 - self.model.oob_score_)

    def _error(self, predicted: Array, response: Response) -> float:
        names = self.ClassNames.tolist()
        prior = dict(zip(names, self.Prior.tolist(), strict=True))
        weights = response.row_weights
        totals = np.bincount(response.values, weights, len(response.classes))
        factors = [prior.get(label, 0.0) for label in response.classes.tolist()] / totals
        weights = weights * factors[response.values]
        return float(((predicted != response.labels) * weights).sum() / weights.sum())


def fitcensemble(X: Any, Y: Any, *pairs: Any, **named: Any) -> ClassificationEnsemble:
    """Fit an ensemble of classification trees with MATLAB's options.

    Parameters
    ----------
    X, Y
        As in `fitctree`.
    *pairs, **named
        Options, as ``"Method", "Bag"`` or ``Method="Bag"``, in any case.

    Returns
    -------
    ClassificationEnsemble

    Other Parameters
    ----------------
    Method : {"Bag", "AdaBoostM1", "AdaBoostM2"}
        By default AdaBoostM2 for more than two classes; for two classes it must be given, because
        MATLAB's default, LogitBoost, is not available. AdaBoostM1 is for two classes and AdaBoostM2
        for more.
    NumLearningCycles : int
        Number of trees, by default 100.
    Learners : "tree" or `templateTree`
        By default boosted trees have 10 splits, and those of a bag are grown to the end with the
        square root of the number of columns drawn for each split, as in a random forest.
    LearnRate : float
        Of boosting, in (0, 1], by default 1.
    FResample : float
        Of a bag: rows drawn for each tree as a fraction of all, by default 1.
    Replace : {"on", "off"}
        Of a bag: whether rows are drawn with replacement.
    CategoricalPredictors, ClassNames, PredictorNames, Prior, ResponseName, Weights
        As in `fitctree`.
    random_state : int
        Ceiba's own: seed of the draws, by default 0.

    Notes
    -----
    *AdaBoostM2* minimizes a pseudo-loss in MATLAB; here it is SAMME (Zhu et al. 2009), another
    extension of AdaBoost to several classes. *Trees* of a limited number of splits are grown
    best first, where MATLAB grows them layer by layer. *Draws* are not MATLAB's.

    Examples
    --------
    >>> from ceiba import datasets
    >>> from ceiba.compat.matlab import fitcensemble, templateTree
    >>> meas, species = datasets.load("iris", as_frame=True)
    >>> ens = fitcensemble(meas.to_numpy(), species, "Method", "Bag", "NumLearningCycles", 20)
    >>> ens.NumTrained, bool(ens.oobLoss() < 0.1)
    (20, True)
    >>> stumps = templateTree("MaxNumSplits", 1)
    >>> boosted = fitcensemble(meas.to_numpy(), species, "Method", "AdaBoostM2", "Learners", stumps)
    >>> bool(boosted.resubLoss() < 0.06)
    True

    References
    ----------
    Breiman (1996), "Bagging predictors", Machine Learning 24.
    Freund & Schapire (1997), "A decision-theoretic generalization of on-line learning and an
    application to boosting", JCSS 55.
    """
    options = NameValue.read("fitcensemble", _OPTIONS, pairs, named, _UNSUPPORTED)
    columns, response, name = read_rows(X, Y, options, classification=True)
    method = _method(options, len(response.classes))
    prior, factors = read_prior(options.of("Prior", "empirical"), response)
    learner = _learner(options, method)
    n = options.count("NumLearningCycles", 100)
    seed = options.count("random_state", 0, 0)
    weights = response.weights
    if factors is not None:
        weights = response.row_weights * factors[response.values]
    if method == "Bag":
        model = _forest(options, learner, n, seed, columns, response)
    else:
        model = _boosting(options, learner, n, seed, method)
    model.fit(columns, response.values, sample_weight=weights)
    return ClassificationEnsemble(
        model, method, response.classes, prior, str(options.of("ResponseName", name)), columns,
        response,
    )  # fmt: skip


def _method(options: NameValue, n_classes: int) -> str:
    """Return the method, which the number of classes may rule out."""
    given = options.of("Method")
    if given is None:
        if n_classes <= 2:
            raise ValueError(
                "Method must be given for two classes: MATLAB's default, LogitBoost, is not "
                f"supported, because {_OTHER_METHODS['LogitBoost']}. Use 'AdaBoostM1' or 'Bag'."
            )
        return "AdaBoostM2"
    for other, reason in _OTHER_METHODS.items():
        if isinstance(given, str) and given.lower() == other.lower():
            raise ValueError(
                f"fitcensemble does not support Method={other!r}: {reason}. Use one of {METHODS}."
            )
    method = options.word("Method", METHODS, "Bag")
    if method == "AdaBoostM1" and n_classes > 2:
        raise ValueError(
            f"Method='AdaBoostM1' requires two classes, got {n_classes}: use 'AdaBoostM2'."
        )
    if method == "AdaBoostM2" and n_classes <= 2:
        raise ValueError(
            f"Method='AdaBoostM2' requires more than two classes, got {n_classes}: use "
            "'AdaBoostM1'."
        )
    return method


def _learner(options: NameValue, method: str) -> NameValue:
    """Return the options of the trees."""
    given = options.of("Learners", "tree")
    if isinstance(given, str) and given.lower() == "tree":
        return NameValue({})
    if not isinstance(given, Mapping):
        raise ValueError(f"Learners must be 'tree' or templateTree(...), got {given!r}.")
    if method != "Bag" and "NumVariablesToSample" in given:
        raise ValueError(
            "NumVariablesToSample requires Method='Bag': boosted trees use all columns."
        )
    return NameValue(given)


def _tree_sizes(learner: NameValue) -> dict[str, Any]:
    min_leaf = learner.count("MinLeafSize", 1)
    criterion = _CRITERIA[learner.word("SplitCriterion", list(_CRITERIA), "gdi")]
    return {
        "criterion": criterion,
        "min_samples_leaf": min_leaf,
        "min_samples_split": max(learner.count("MinParentSize", 2), 2 * min_leaf),
    }


def _forest(
    options: NameValue, learner: NameValue, n: int, seed: int, columns: Table, response: Response
) -> RandomForestClassifier:
    if "LearnRate" in options.given:
        raise ValueError("LearnRate has no effect with Method='Bag': leave it out.")
    n_columns = len(columns.schema)
    drawn = learner.of("NumVariablesToSample", math.ceil(math.sqrt(n_columns)))
    if isinstance(drawn, str) and drawn.lower() == "all":
        drawn = n_columns
    fraction = options.number("FResample", 1.0)
    if not 0 < fraction <= 1:
        raise ValueError(f"FResample must be a float in (0, 1], got {fraction!r}.")
    replace = options.switch("Replace", True)
    if fraction == 1 and not replace:
        raise ValueError("Replace='off' requires FResample < 1: otherwise every tree has all rows.")
    splits = learner.of("MaxNumSplits")
    return RandomForestClassifier(
        n,
        max_features=NameValue({"NumVariablesToSample": drawn}).count("NumVariablesToSample", 1),
        max_leaf_nodes=None if splits is None else learner.count("MaxNumSplits", 1) + 1,
        max_bins=None,
        max_samples=max(1, round(fraction * len(response.values))),
        bootstrap=replace,
        oob_score=True,
        random_state=seed,
        **_tree_sizes(learner),
    )


def _boosting(
    options: NameValue, learner: NameValue, n: int, seed: int, method: str
) -> AdaBoostClassifier:
    for name in ("FResample", "Replace"):
        if name in options.given:
            raise ValueError(f"{name} has no effect with Method={method!r}: leave it out.")
    rate = options.number("LearnRate", 1.0)
    if not 0 < rate <= 1:
        raise ValueError(f"LearnRate must be a float in (0, 1], got {rate!r}.")
    tree = DecisionTreeClassifier(
        max_leaf_nodes=learner.count("MaxNumSplits", 10) + 1, random_state=seed,
        **_tree_sizes(learner),
    )  # fmt: skip
    parameters: dict[str, Any] = {
        "n_estimators": n,
        "learning_rate": rate,
        "algorithm": "m1" if method == "AdaBoostM1" else "samme",
        "random_state": seed,
    }
    return AdaBoostClassifier(tree, **parameters)
