"""Generate code of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ceiba.export.checks import check_learner
from ceiba.export.code.networks.c import c_code as network_c_code
from ceiba.export.code.networks.model import NETWORK_LEARNERS, CodeNetwork
from ceiba.export.code.networks.python import python_code as network_python_code
from ceiba.export.code.networks.sql import sql_code as network_sql_code
from ceiba.export.code.trees.c import c_code as tree_c_code
from ceiba.export.code.trees.model import TREE_LEARNERS, CodeModel
from ceiba.export.code.trees.python import python_code as tree_python_code
from ceiba.export.code.trees.sql import sql_code as tree_sql_code
from ceiba.tree.explain.rule_list import RuleList


def to_code(
    model: Any,
    language: Literal["python", "c", "sql"],
    *,
    table: str = "rows",
    keep: Sequence[str] | None = None,
) -> str:
    """Generate code that predicts as a model does.

    Parameters
    ----------
    model : estimator or RuleList
        A fitted decision tree, its rules (``model.to_rules()``), a random forest or bagging of
        trees, gradient boosting, a Bayesian network classifier, or a mixture of latent classes; the
        code of a large forest is large.
    language : {"python", "c", "sql"}
        "python": a module with ``predict(row)`` and ``predict_proba(row)``, of the values of a row
        in the order of the columns; None and NaN are missing. "c": C99 functions ``predict`` and
        ``predict_proba`` of an array of doubles, with the index of a category instead of the
        category; NaN, or an index of no category, is missing. "sql": a SELECT statement with the
        columns ``prediction`` and ``probability_...`` of each class; NULL is missing. In all of
        them a value that is no category counts as missing, as in ``predict``.
    table : str
        Name of the table that SQL selects from.
    keep : sequence of str, optional
        Columns of the table that SQL selects beside the predictions; those of the model by default.

    Returns
    -------
    str

    Raises
    ------
    NotExpressibleError
        For other models, majority votes with drawn ties, an ``init`` predictor of gradient
        boosting, columns of times, averages of networks
        (``structure="aode"``) and naive Bayes with kernels or mixtures; in C also for integers
        beyond 2^53.

    Notes
    -----
    The code of a network leaves out a missing column without known children, which is exact, and
    so needs nothing else in naive Bayes. Other missing values are summed over in Python and C if
    each column has at most one parent column. Rows in which a missing column has a known child are
    refused by SQL, and by all languages if a column has two or more parents (``structure="kdb"``
    or given arcs): Python raises ValueError, C returns -1 with probabilities of NaN, SQL has NULL.
    With ``missing="category"``, missing values are a category of columns in which some are missing
    in training, and refused in no row there. Values of a column of counts (Poisson) that are not
    whole numbers of at least 0 are refused in the same way.

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import DecisionTreeClassifier
    >>> from ceiba.export import to_code
    >>> X, y = np.array([[1.0], [2.0], [4.0]]), ["no", "no", "yes"]
    >>> module = {}
    >>> exec(to_code(DecisionTreeClassifier().fit(X, y), "python"), module)
    >>> module["predict"]([3.5]), module["predict_proba"]([3.5])
    ('yes', [0.0, 1.0])
    """
    if language not in ("python", "c", "sql"):
        raise ValueError(f"language must be 'python', 'c' or 'sql', got {language!r}.")
    if language != "sql" and (table != "rows" or keep is not None):
        raise ValueError(
            f"'table' and 'keep' have no effect with language={language!r}: leave them out."
        )
    if not isinstance(model, RuleList):
        check_learner(model, (*TREE_LEARNERS, *NETWORK_LEARNERS), "a RuleList or ")
    if type(model).__name__ in NETWORK_LEARNERS:
        network = CodeNetwork.of(model)
        if language == "sql":
            return network_sql_code(network, table, _kept(network.schema.names, keep))
        return network_python_code(network) if language == "python" else network_c_code(network)
    trees = CodeModel.of(model)
    if language == "sql":
        return tree_sql_code(trees, table, _kept(trees.schema.names, keep))
    return tree_python_code(trees) if language == "python" else tree_c_code(trees)


def _kept(names: Sequence[str], keep: Sequence[str] | None) -> list[str]:
    return list(names if keep is None else keep)
