"""Make the golden trees of Weka: python make_j48.py WEKA_JAR [OUT_DIRECTORY]

Bundled tables go to Weka as ARFF files in a temporary directory, the trees come back through
DumpTrees.java. One JSON file a table; README.md says what stands in it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ceiba import datasets
from ceiba.data.schema import Kind, Schema
from ceiba.data.table import Table

J48_TABLES = ("iris", "cleveland", "vote", "glass", "crx", "weather_nominal", "contact_lenses")
ID3_TABLES = ("weather_nominal", "contact_lenses")
# The average-gain guard and the correction of numeric cuts have no switch in Weka 3.6.
VARIANTS = {
    "grown": ["-grown"],
    "unpruned": ["-U"],
    "pruned": [],
    "pruned_without_raising": ["-S"],
    "pruned_at_0.05": ["-C", "0.05"],
    "pruned_min_5": ["-M", "5"],
}

PREDICTING = {"unpruned", "pruned"}


def plain_table(name: str) -> tuple[Table, Any]:
    """The table as Weka can tell it: ordinal columns nominal, refractive index in thousandths."""
    loaded = datasets.load(name)
    ordinal = [column.name for column in loaded.schema if column.kind is Kind.ORDINAL]
    table = Table.of(loaded.table, kinds=dict.fromkeys(ordinal, "nominal"))
    # Weka's files were made with the categories in alphabetical order.
    columns = [
        replace(column, categories=tuple(sorted(column.categories)))
        if column.name in ordinal
        else column
        for column in table.schema
    ]
    table = Table.of(table, Schema(tuple(columns), table.schema.named))
    if name == "glass":
        # Weka cuts only between values that are more than 1e-5 apart, whatever the column's unit.
        columns = [table.column(place) for place in range(len(table.schema))]
        columns[0] = np.round(1000 * columns[0], 2)
        table = Table.from_columns(columns, table.schema)
    return table, loaded.y


def quoted(label: Any) -> str:
    return "'" + str(label).replace("'", "\\'") + "'"


def declared(name: str, levels: Any) -> str:
    kind = "{" + ",".join(quoted(level) for level in levels) + "}" if len(levels) else "numeric"
    return f"@attribute {quoted(name)} {kind}"


def written(table: Table, place: int) -> list[str]:
    values, gaps, levels = (
        table.column(place),
        table.missing_mask(place),
        table.schema[place].categories,
    )
    texts = [quoted(levels[int(v)]) if levels else repr(float(v)) for v in values]
    if gaps is None:
        return texts
    return ["?" if gap else text for text, gap in zip(texts, gaps, strict=True)]


def arff(name: str, table: Table, y: Any) -> str:
    head = [f"@relation {name}"]
    head += [declared(column.name, column.categories) for column in table.schema]
    head += [declared("the class", np.unique(y).tolist()), "@data"]
    columns = [*(written(table, place) for place in range(len(table.schema))), map(quoted, y)]
    return "\n".join(head + [",".join(row) for row in zip(*columns, strict=True)]) + "\n"


def compiled(jar: str, directory: Path) -> list[str]:
    """The command that dumps a tree."""
    source = Path(__file__).with_name("DumpTrees.java")
    subprocess.run(["javac", "-cp", jar, "-d", str(directory), str(source)], check=True)
    path = os.pathsep.join([jar, str(directory)])
    return ["java", "-Djava.awt.headless=true", "-cp", path, "DumpTrees"]


def tree_of(dump: list[str], learner: str, file: Path, options: list[str]) -> Any:
    command = [*dump, learner, str(file), *options]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(found.stdout)


def variants(dump: list[str], file: Path) -> dict[str, Any]:
    trees = {variant: tree_of(dump, "j48", file, options) for variant, options in VARIANTS.items()}
    for variant in trees.keys() - PREDICTING:
        trees[variant].pop("probabilities_of_rows_with_gaps", None)
    return trees


def golden(dump: list[str], name: str, directory: Path) -> dict[str, Any]:
    table, y = plain_table(name)
    file = directory / f"{name}.arff"
    file.write_text(arff(name, table, y))
    record: dict[str, Any] = {
        "weka": "3.6.14",
        "table": name,
        "columns": table.schema.names,
        "levels": [list(column.categories) for column in table.schema],
        "classes": np.unique(y).tolist(),
    }
    record["j48"] = variants(dump, file)
    if name in ID3_TABLES:
        record["id3"] = tree_of(dump, "id3", file, [])
    return record


def compact(value: Any, depth: int) -> str:
    """JSON with a line for each entry down to a depth, and one line for what is below."""
    if depth == 0 or not isinstance(value, dict):
        return json.dumps(value)
    entries = [f"{json.dumps(key)}: {compact(entry, depth - 1)}" for key, entry in value.items()]
    return "{\n" + ",\n".join(entries) + "\n}"


def main(jar: str, out: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        dump = compiled(jar, directory)
        for name in J48_TABLES:
            text = compact(golden(dump, name, directory), 3)
            (out / f"{name}.json").write_text(text + "\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2] if len(sys.argv) > 2 else "."))
