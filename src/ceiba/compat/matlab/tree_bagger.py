"""Bags of trees: random forests under MATLAB's names."""

from __future__ import annotations

import copy
import warnings
from typing import Any, Self

import numpy as np

from ceiba._typing import Array
from ceiba.compat.matlab.bag import Bag
from ceiba.compat.matlab.bagger_options import (
    ELSEWHERE,
    METHODS,
    OPTIONS,
    forest_of,
    told_out_of_bag,
)
from ceiba.compat.matlab.bagger_rows import BaggerRows
from ceiba.compat.matlab.bagger_tally import MODES, Said, Tally
from ceiba.compat.matlab.fit import opened
from ceiba.compat.matlab.name_value import NameValue
from ceiba.compat.matlab.predictors import rows_for
from ceiba.data.table import Table
from ceiba.ensemble.common.oob import OutOfBagWarning
from ceiba.ensemble.common.votes import lead

_TREES = ("Trees", "TreeWeights")


class TreeBagger(Bag):
    """Grow a bag of trees, with MATLAB's options and defaults.

    What it shows is listed in `ceiba.compat.matlab.bag.Bag`.

    Parameters
    ----------
    NumTrees : int
    X : array, frame or Table
        A matrix of numbers, NaN for a gap, or a frame. Text, truth values and categories are
        categorical.
    Y : array, or str
        Classes or numbers, or the name of the column of ``X`` that holds them. Rows without one
        are left out.
    *pairs, **named
        Options, as ``"MinLeafSize", 5`` or ``MinLeafSize=5``; case does not matter. The names of
        older releases (``OOBPred``, ``OOBVarImp``, ``MinLeaf``, ``NVarToSample``, ``FBoot``) are
        taken, too.

    Other Parameters
    ----------------
    Method : {"classification", "regression"}
    OOBPrediction : {"off", "on"}
        Whether rows are predicted by the trees that did not draw them: `oobError`, `oobPredict`,
        ``OOBIndices``.
    OOBPredictorImportance : {"off", "on"}
        The same, and ``OOBPermutedPredictorDeltaError``.
    NumPredictorsToSample : int or "all"
        Columns that are drawn for each split; the square root of their number for classes and a
        third of it for numbers, rounded up, unless given.
    MinLeafSize : int
        1 for classes and 5 for numbers unless given. A row counts as often as it was drawn.
    InBagFraction : float
        Rows that are drawn for each tree, as a share of all.
    SampleWithReplacement : {"on", "off"}
        "off" needs an InBagFraction below 1.
    CategoricalPredictors, PredictorNames, ClassNames
        As in `fitctree`.
    Weights : array
        Rows are drawn with chances in proportion to them; without replacement they are weights in
        growing.
    Prior : {"empirical", "uniform"}, array or mapping of ClassNames and ClassProbs
        The classes' chances of being drawn.
    SplitCriterion : {"gdi", "deviance"}, for numbers {"mse"}
    MergeLeaves, PredictorSelection, Prune, Surrogate
        Taken where they say what is done anyway, "off" and "allsplits", else refused.
    random_state : int
        Ceiba's own: seed of all draws, 0 unless given; it takes the place of ``rng(seed)``.

    Notes
    -----
    *Labels* have the type of ``Y``, where MATLAB has text: ``str2double`` falls away. *Bags are
    values*, as in MATLAB: ``bag = bag.growTrees(50)``. *Gaps.* A split is judged by the rows that
    have a value; the others join the heavier branch, in training and in prediction. *Rows in every
    bag* count in out-of-bag errors with ``DefaultYfit``, as in MATLAB, which lifts the errors of
    the first trees; ``bag.setDefaultYfit("")`` leaves them out, as ``model.oob_curve_`` does.
    *Draws* are not MATLAB's: the same seed does not give the same trees.

    Examples
    --------
    >>> from ceiba import datasets
    >>> from ceiba.compat.matlab import TreeBagger
    >>> meas, species = datasets.load("iris", as_frame=True)
    >>> bag = TreeBagger(50, meas.to_numpy(), species, "OOBPrediction", "on")
    >>> err = bag.oobError()
    >>> len(err), bool(err[-1] < 0.07)
    (50, True)
    >>> label, score = bag.predict([[5.0, 3.0, 4.5, 1.4]], nargout=2)
    >>> label.tolist(), score.shape
    (['versicolor'], (1, 3))

    References
    ----------
    Breiman (2001), "Random forests", Machine Learning 45.
    """

    def __init__(self, NumTrees: int, X: Any, Y: Any, *pairs: Any, **named: Any) -> None:
        options = NameValue.read("TreeBagger", OPTIONS, pairs, named, ELSEWHERE)
        n_trees = NameValue({"NumTrees": NumTrees}).count("NumTrees", 1)
        of_classes = options.word("Method", METHODS, METHODS[0])[0] == "c"
        self._rows = BaggerRows.of(X, Y, options, of_classes)
        self._least = options.count("MinLeafSize", 1 if of_classes else 5)
        self._share = options.number("InBagFraction", 1.0)
        self._outside = told_out_of_bag(options)
        self._importance = options.switch("OOBPredictorImportance", False)
        self.model = _fitted(forest_of(options, self._rows, n_trees), self._rows)
        self.DefaultYfit = self._usual_default()

    def predict(self, X: Any, *pairs: Any, nargout: int = 1, **named: Any) -> Any:
        """Predict rows: the class of the largest mean score, or the mean number.

        Parameters
        ----------
        X : array, frame or Table
            With the columns of training; of a frame they are found by name.
        *pairs, **named
            ``Trees``: numbers of the trees that are asked, from 1, or "all". ``TreeWeights``: their
            weights.
        nargout : int
            How many outputs are wanted.

        Returns
        -------
        Yfit : ndarray
        scores : ndarray of shape (n_rows, k)
            Mean over the trees of the class shares of each row's leaf. For classes alone.
        stdevs : ndarray
            Standard deviation over the trees of the scores, or of the numbers; for numbers it is
            the second output.
        """
        options = NameValue.read("predict", _TREES, pairs, named, {})
        tally = Tally.of(self.model, self._rows_for(X), options)
        return self._outputs(tally, nargout)

    def oobPredict(self, *pairs: Any, nargout: int = 1, **named: Any) -> Any:
        """Predict every row of training by the trees that did not draw it.

        Options and outputs are those of `predict`; a row that every tree drew has ``DefaultYfit``,
        the prior as its scores, and NaN as their deviation.
        """
        options = NameValue.read("oobPredict", _TREES, pairs, named, {})
        tally = Tally.of(self.model, self._rows.table, options, self.OOBIndices)
        return self._outputs(tally, nargout)

    def error(self, X: Any, Y: Any, *pairs: Any, **named: Any) -> Any:
        """Share of rows that are predicted wrong, or mean squared error.

        Parameters
        ----------
        X : array, frame or Table
        Y : array, or str
            The true responses, or the name of the column of ``X`` that holds them.
        *pairs, **named
            ``Mode``: "cumulative" for the first 1, 2, ... trees together, "individual" for each
            alone, "ensemble" for all together. ``Weights`` of the rows, ``Trees``, ``TreeWeights``.

        Returns
        -------
        ndarray of shape (n_trees,), or float for Mode="ensemble"
        """
        options = NameValue.read("error", ("Mode", "Weights", *_TREES), pairs, named, {})
        table, true = self._labelled(X, Y)
        weights = np.asarray(options.of("Weights", np.ones(len(true))), np.float64)
        good = weights.shape == true.shape and (np.isfinite(weights) & (weights >= 0)).all()
        if not good or not weights.any():
            raise ValueError(
                f"Weights must be {len(true)} finite numbers, none below zero and some above"
            )
        return self._errors(Tally.of(self.model, table, options), true, weights, options)

    def oobError(self, *pairs: Any, **named: Any) -> Any:
        """The same of the rows of training, by the trees that did not draw them.

        Parameters
        ----------
        *pairs, **named
            ``Mode``, ``Trees`` and ``TreeWeights``, as in `error`.

        Returns
        -------
        ndarray of shape (n_trees,), or float for Mode="ensemble"
            Rows that no tree may speak of count with ``DefaultYfit``, or not at all where that is
            "" or NaN.
        """
        options = NameValue.read("oobError", ("Mode", *_TREES), pairs, named, {})
        tally = Tally.of(self.model, self._rows.table, options, self.OOBIndices)
        return self._errors(tally, self._rows.values, self.W, options)

    def margin(self, X: Any, Y: Any, *pairs: Any, **named: Any) -> Array:
        """Score of the true class less the largest of the others.

        Parameters
        ----------
        X, Y
            As in `error`.
        *pairs, **named
            ``Mode``, ``Trees`` and ``TreeWeights``, as in `error`.

        Returns
        -------
        ndarray of shape (n_rows, n_trees), or (n_rows,) for Mode="ensemble"
        """
        options = NameValue.read("margin", ("Mode", *_TREES), pairs, named, {})
        if not self._rows.of_classes:
            raise ValueError("margins are of classes: this bag was grown with Method='regression'")
        mode = options.word("Mode", MODES, MODES[0])
        table, true = self._labelled(X, Y)
        stages = Tally.of(self.model, table, options).stages(mode)
        margins = [lead(said.filled(self._default).told, true) for said in stages]
        return margins[0] if mode == "ensemble" else np.stack(margins, axis=1)

    def quantilePredict(self, X: Any, *pairs: Any, **named: Any) -> Array:
        """Quantiles of the numbers to expect: of training rows, weighted by the leaves they share.

        Parameters
        ----------
        X : array, frame or Table
        *pairs, **named
            ``Quantile``: one or more numbers from 0 to 1; 0.5 unless given.

        Returns
        -------
        ndarray of shape (n_rows,), or (n_rows, n_quantiles) for several

        References
        ----------
        Meinshausen (2006), "Quantile regression forests", Journal of Machine Learning Research 7.
        """
        options = NameValue.read("quantilePredict", ("Quantile",), pairs, named, {})
        if self._rows.of_classes:
            raise ValueError("quantiles are of numbers: grow the bag with Method='regression'")
        wanted = np.asarray(options.of("Quantile", 0.5), np.float64)
        if wanted.ndim > 1 or not wanted.size or not ((wanted >= 0) & (wanted <= 1)).all():
            raise ValueError(f"Quantile={options.of('Quantile')!r}: give numbers from 0 to 1")
        found: Array = self.model.predict_quantiles(self._rows_for(X), wanted)
        return found

    def growTrees(self, NumTrees: int) -> Self:
        """The bag with more trees, grown from the same rows; this one stays as it is.

        Parameters
        ----------
        NumTrees : int
            How many are added.
        """
        added = NameValue({"NumTrees": NumTrees}).count("NumTrees", 1)
        model = copy.copy(self.model)
        model.set_params(n_estimators=self.NumTrees + added, warm_start=True)
        return self._with(model=_fitted(model, self._rows))

    def setDefaultYfit(self, Yfit: Any) -> Self:
        """The bag with another prediction for rows that no tree may speak of.

        Parameters
        ----------
        Yfit : {"MostPopular", ""}, for numbers a float
            The class of most weight in training (for numbers the mean stands there at first), or ""
            or NaN for none: such rows are then left out of errors, and their predictions are None
            or NaN.
        """
        if not self._rows.of_classes:
            return self._with(DefaultYfit=_number(Yfit))
        if Yfit not in ("", "MostPopular"):
            raise ValueError(f"Yfit={Yfit!r}: give 'MostPopular' or ''")
        return self._with(DefaultYfit=self._usual_default() if Yfit else "")

    def _with(self, **changes: Any) -> Self:
        bag = copy.copy(self)
        for name in ("OOBIndices", "OOBPermutedPredictorDeltaError"):
            bag.__dict__.pop(name, None)
        bag.__dict__.update(changes)
        return bag

    def _usual_default(self) -> Any:
        rows = self._rows
        if rows.of_classes:
            return rows.classes[int(rows.prior.argmax())]
        return float(np.average(rows.values, weights=rows.weights))

    @property
    def _default(self) -> Array | None:
        """What is told of rows that no tree speaks of."""
        if not self._rows.of_classes:
            return None if np.isnan(self.DefaultYfit) else np.array([self.DefaultYfit])
        none = isinstance(self.DefaultYfit, str) and self.DefaultYfit == ""
        return None if none else self._rows.prior

    def _rows_for(self, X: Any) -> Table:
        return rows_for(X, self._rows.table.schema)

    def _labelled(self, X: Any, Y: Any) -> tuple[Table, Array]:
        """Rows with their true responses."""
        table, Y, _ = opened(X, Y)
        return self._rows_for(table), self._rows.response_of(Y, len(table))

    def _outputs(self, tally: Tally, nargout: int) -> Any:
        of_classes = self._rows.of_classes
        most = 3 if of_classes else 2
        if isinstance(nargout, bool) or nargout not in range(1, most + 1):
            raise ValueError(f"nargout={nargout!r}: this bag has 1 to {most} outputs")
        said = tally.said()
        filled = said.filled(self._default)
        outputs = [self._label(filled), filled.told] if of_classes else [filled.told[:, 0]]
        if nargout == most:
            spread = tally.spread(said.told)
            outputs.append(spread if of_classes else spread[:, 0])
        return outputs[0] if nargout == 1 else tuple(outputs[:nargout])

    def _label(self, said: Said) -> Array:
        if said.known.all():
            labels: Array = self.ClassNames[said.told.argmax(axis=1)]
            return labels
        labels = np.full(len(said.known), None, object)
        labels[said.known] = self.ClassNames[said.told[said.known].argmax(axis=1)]
        return labels

    def _errors(self, tally: Tally, true: Array, weights: Array, options: NameValue) -> Any:
        mode = options.word("Mode", MODES, MODES[0])
        errors = []
        for stage in tally.stages(mode):
            said = stage.filled(self._default)
            own = weights[said.known]
            loss = self._loss(said.told[said.known], true[said.known])
            errors.append(float(np.average(loss, weights=own)) if own.sum() > 0 else np.nan)
        return errors[0] if mode == "ensemble" else np.array(errors)

    def _loss(self, told: Array, true: Array) -> Array:
        if self._rows.of_classes:
            return np.asarray(told.argmax(axis=1) != true)
        return np.asarray((told[:, 0] - true) ** 2)


def _fitted(model: Any, rows: BaggerRows) -> Any:
    with warnings.catch_warnings():
        # Rows in every bag have a prediction here: DefaultYfit.
        warnings.simplefilter("ignore", OutOfBagWarning)
        return model.fit(rows.table, rows.values, sample_weight=rows.weights)


def _number(given: Any) -> float:
    try:
        return float(given)
    except (TypeError, ValueError):
        raise ValueError(f"Yfit={given!r}: give a number, or NaN for none") from None
