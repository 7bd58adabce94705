"""Run generated code on the rows of a frame."""

from __future__ import annotations

import ctypes
import shutil
import sqlite3
import subprocess
from typing import Any

import numpy as np
import pandas as pd

from ceiba.export import to_code


def plain_rows(frame: pd.DataFrame) -> list[list[Any]]:
    """Rows of plain values, None for missing ones."""
    whole = frame.astype(object)
    return whole.where(whole.notna(), None).to_numpy().tolist()


def run_python(code: str, frame: pd.DataFrame) -> dict[str, Any]:
    module: dict[str, Any] = {}
    exec(compile(code, "generated", "exec"), module)
    rows = plain_rows(frame)
    outputs = {"prediction": [module["predict"](row) for row in rows]}
    if "predict_proba" in module:
        outputs["probabilities"] = [module["predict_proba"](row) for row in rows]
    return outputs


def run_c(folder: Any, code: str, schema: Any, classes: Any, frame: pd.DataFrame) -> dict[str, Any]:
    (folder / "model.c").write_text(code)
    options = ["-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
    command = ["gcc", *options, "-shared", "-fPIC", "-o", "model.so", "model.c", "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "model.so"))
    library.predict.restype = ctypes.c_double if classes is None else ctypes.c_int
    numbers = np.full((len(frame), len(schema)), np.nan)
    for j, column in enumerate(schema):
        codes = {category: code for code, category in enumerate(column.categories)}
        for i, row in enumerate(plain_rows(frame)):
            known = row[j] is not None
            numbers[i, j] = (codes.get(row[j], -1) if codes else row[j]) if known else np.nan
    pointer = ctypes.POINTER(ctypes.c_double)
    outputs: dict[str, Any] = {"prediction": [], "probabilities": []}
    for row in numbers:
        x = row.ctypes.data_as(pointer)
        index = library.predict(x)
        outputs["prediction"].append(index if classes is None else [*classes, None][index])
        if classes is not None and hasattr(library, "predict_proba"):
            out = np.empty(len(classes))
            library.predict_proba(x, out.ctypes.data_as(pointer))
            outputs["probabilities"].append(out)
    return outputs


def run_sql(code: str, frame: pd.DataFrame) -> dict[str, Any]:
    database = sqlite3.connect(":memory:")
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in frame.columns)
    database.execute(f'CREATE TABLE "rows" ({names})')
    marks = ", ".join("?" * len(frame.columns))
    database.executemany(f'INSERT INTO "rows" VALUES ({marks})', plain_rows(frame))
    rows = database.execute(code).fetchall()
    assert [list(row[: len(frame.columns)]) for row in rows] == plain_rows(frame)
    values = [row[len(frame.columns) :] for row in rows]
    return {"prediction": [v[0] for v in values], "probabilities": [v[1:] for v in values]}


def run_all(folder: Any, model: Any, schema: Any, classes: Any, frame: Any) -> dict[str, Any]:
    """Outputs of each language; without C if there is no compiler."""
    runs = {
        "python": lambda code: run_python(code, frame),
        "c": lambda code: run_c(folder, code, schema, classes, frame),
        "sql": lambda code: run_sql(code, frame),
    }
    if shutil.which("gcc") is None:
        del runs["c"]
    return {language: run(to_code(model, language)) for language, run in runs.items()}
