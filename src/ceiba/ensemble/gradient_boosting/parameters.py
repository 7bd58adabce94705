"""Hyper-parameters that GradientBoostingClassifier and GradientBoostingRegressor share."""

from __future__ import annotations

from math import inf
from typing import Annotated, Any, Literal

from ceiba.base import Above, AtLeast, Between, ParameterError, Parameters, check_unused, parameter
from ceiba.base.parameters import Verbose
from ceiba.data.warn import warn_user
from ceiba.ensemble.common.parameters import Learner, Seed, WarmStart
from ceiba.tree.parameters import (
    InteractionCst,
    Jobs,
    MaxDepth,
    MaxLeafNodes,
    MonotonicCst,
)

ColumnCount = Annotated[int, AtLeast(1)] | Annotated[float, Between(0.0, 1.0, closed="right")]
NotNegative = Between(0.0, inf, closed="left")
_NEWTON_ONLY = ("reg_lambda", "reg_alpha", "min_child_weight")
_GOSS_ONLY = ("top_rate", "other_rate")
_STOPPING_ONLY = ("validation_fraction", "tol")


class BoostingParameters(Parameters):
    """Hyper-parameters of gradient boosting."""

    n_estimators: Annotated[
        int,
        AtLeast(1),
        "Number of rounds; each adds a tree, with three or more classes one per class or one for "
        "all.",
    ] = parameter(100, kw_only=False)
    learning_rate: Annotated[
        float, Above(0.0), "Factor of all leaf values: smaller values need more rounds."
    ] = 0.1
    method: Annotated[
        Literal["newton", "gradient"],
        "'newton' fits trees to gradients and Hessians, with regularized Newton steps in the "
        "leaves (XGBoost); 'gradient' fits least-squares trees to the negative gradient, with a "
        "line search in each leaf (Friedman).",
    ] = "newton"
    growth: Annotated[
        Literal["best_first", "breadth_first"],
        "Order in which nodes are split until there are max_leaf_nodes: the leaf of largest gain "
        "first (leaf-wise), or one depth after the other (depth-wise). With max_leaf_nodes=None it "
        "only changes the numbers of the nodes.",
    ] = "best_first"
    max_leaf_nodes: MaxLeafNodes = 31
    max_depth: MaxDepth = None
    min_samples_leaf: Annotated[int, AtLeast(1), "Minimum number of rows of every branch."] = 20
    min_child_weight: Annotated[
        float,
        NotNegative,
        "Minimum sum of the Hessians of every branch, with method='newton'; of several outputs in "
        "one tree their mean.",
    ] = 1e-3
    min_split_gain: Annotated[
        float,
        NotNegative,
        "A split must gain more: G_l^2 / (H_l + reg_lambda) + G_r^2 / (H_r + reg_lambda) - "
        "G^2 / (H + reg_lambda), twice the decrease of the objective, as in XGBoost and LightGBM.",
    ] = 0.0
    reg_lambda: Annotated[
        float,
        NotNegative,
        "L2 regularization of leaf values, with method='newton'; with quantiles as leaf values "
        "(loss='absolute_error' or 'quantile') of the scores of splits only.",
    ] = 1.0
    reg_alpha: Annotated[
        float, NotNegative, "L1 regularization, of the same values as reg_lambda."
    ] = 0.0
    max_features: Annotated[
        ColumnCount | Literal["sqrt", "log2"] | None,
        "Number of columns searched at each node, drawn from those of the tree that "
        "interaction_cst allows, by the seed and the node's path; a fraction, 'sqrt' or 'log2' of "
        "the tree's columns (tree_features); None for all. If none of them has a split, the node "
        "is a leaf. Among equal splits the first column is taken.",
    ] = None
    tree_features: Annotated[
        ColumnCount | None,
        "Number or fraction of the columns that are drawn for each tree; None for all.",
    ] = None
    subsample: Annotated[
        float,
        Between(0.0, 1.0, closed="right"),
        "Probability that a row is used in a round (stochastic gradient boosting).",
    ] = 1.0
    sampling: Annotated[
        Literal["uniform", "goss"],
        "How rows are drawn: all alike, or by gradient-based one-side sampling, which keeps the "
        "top_rate of the rows with the largest gradients and draws other_rate of all rows among "
        "the others, with larger weights.",
    ] = "uniform"
    top_rate: Annotated[
        float, Between(0.0, 1.0, closed="neither"), "Fraction kept with sampling='goss'."
    ] = 0.2
    other_rate: Annotated[
        float, Between(0.0, 1.0, closed="neither"), "Fraction drawn with sampling='goss'."
    ] = 0.1
    max_bins: Annotated[
        int,
        Between(2, 65_535),
        "Maximum number of bins of a numeric column (quantiles of a 65,536-row sample, finer in "
        "the tails); up to 255 take two bytes per value (the encoding and its copy by rows), more "
        "of them four.",
    ] = 255
    gradient_bits: Annotated[
        Literal["auto"] | Annotated[int, Between(2, 41)],
        "Bits of the gradients in histograms. 'auto' quantizes them to as many as fit into packed "
        "sums, 13 for 500,000 rows (the sign counts), and to 41 where few rows have nearly all of "
        "the gradient. Leaf values have gradients rounded to 2^-50 of the largest one (2^-42 with "
        "a million rows).",
    ] = "auto"
    category_smoothing: Annotated[
        float,
        NotNegative,
        "Added to the Hessian of a category when categories are ordered by their mean gradient.",
    ] = 10.0
    monotonic_cst: MonotonicCst = None
    interaction_cst: InteractionCst = None
    dropout: Annotated[
        float,
        Between(0.0, 1.0, closed="left"),
        "Probability that a round is left out when the next tree is fitted (DART); 0 for none.",
    ] = 0.0
    init: Annotated[
        Literal["zero"] | Learner | None,
        "Predictor that boosting starts from: an estimator, 'zero', or None for the best constant. "
        "An estimator is fitted to the training rows; monotonic_cst and interaction_cst, which "
        "would hold for the trees alone, exclude it.",
    ] = None
    early_stopping: Annotated[
        bool,
        "Whether to stop when the loss on validation rows has not decreased for "
        "n_iter_no_change rounds; the rounds after the best one are dropped.",
    ] = False
    validation_fraction: Annotated[
        float,
        Between(0.0, 1.0, closed="neither"),
        "Fraction of the rows held out for early stopping, unless fit gets X_val and y_val.",
    ] = 0.1
    n_iter_no_change: Annotated[
        int,
        AtLeast(1),
        "With early_stopping, number of rounds without a decrease after which to stop.",
    ] = 10
    tol: Annotated[
        float,
        NotNegative,
        "A decrease of the validation loss must be larger than this times the loss before the "
        "first round; scikit-learn's is absolute.",
    ] = 1e-7
    warm_start: WarmStart = False
    trace: Annotated[
        bool,
        "Whether to keep the rounds in ``trace_``: losses, gradients, and the sums and steps from "
        "which splits are written out, thinned above 1000 frames or 64 MB. Arrays of more than "
        "16 MB per round are left out, such as the gradients of 2,000,000 rows.",
    ] = False
    random_state: Seed = 0
    n_jobs: Jobs = None
    verbose: Verbose = 0

    def _check_parameters(self) -> None:
        """Raise for parameters that have no effect or contradict each other."""
        if self.method == "gradient":
            check_unused(self, _NEWTON_ONLY, "method='gradient'")
        if self.sampling == "goss":
            check_unused(self, ["subsample"], "sampling='goss'")
            if self.top_rate + self.other_rate > 1:
                raise ParameterError(
                    "top_rate + other_rate must be at most 1, got "
                    f"{self.top_rate} + {self.other_rate}."
                )
        else:
            check_unused(self, _GOSS_ONLY, f"sampling={self.sampling!r}")
        if not self.early_stopping:
            check_unused(self, _STOPPING_ONLY, "early_stopping=False")
            # scikit-learn's estimator checks set it to 20 in any learner.
            warn_unused(
                self, "n_iter_no_change", "early_stopping=False",
                "Set early_stopping=True to stop early.",
            )  # fmt: skip
        elif self.dropout:
            raise ParameterError(
                f"early_stopping requires dropout=0, got {self.dropout}: later rounds change the "
                "trees of earlier ones."
            )
        if self.monotonic_cst is not None and self.method == "gradient":
            raise ParameterError(
                "monotonic_cst requires method='newton', got 'gradient': a line search may "
                "reverse the order of two leaves."
            )
        for name in ("monotonic_cst", "interaction_cst"):
            if getattr(self, name) is not None and self.init not in (None, "zero"):
                raise ParameterError(
                    f"{name} requires init=None or init='zero', got {type(self.init).__name__}: "
                    "the constraint would hold for the trees, but not for its predictions."
                )
        if self.max_leaf_nodes is None and self.max_depth is None:
            raise ParameterError(
                "max_leaf_nodes=None requires max_depth, got None: without a limit every tree "
                "would separate all rows."
            )


def warn_unused(learner: Any, name: str, setting: str, remedy: str) -> None:
    """Warn of a parameter that has no effect, where estimator checks forbid to raise."""
    try:
        check_unused(learner, [name], setting)
    except ParameterError as error:
        warn_user(f"{error} {remedy}", UserWarning)
