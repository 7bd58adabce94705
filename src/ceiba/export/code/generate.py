"""Generate code of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from ceiba.export.code.c import c_code
from ceiba.export.code.model import CodeModel
from ceiba.export.code.python import python_code
from ceiba.export.code.sql import sql_code


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
        trees; the code of a large forest is large.
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
        For other models, majority votes with drawn ties and columns of times; in C also for
        integers beyond 2^53.

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
    code_model = CodeModel.of(model)
    if language == "sql":
        return sql_code(code_model, table, code_model.schema.names if keep is None else list(keep))
    generate: Callable[[CodeModel], str] = python_code if language == "python" else c_code
    return generate(code_model)
