"""Make the golden rounds of Weka's AdaBoostM1: python make_adaboost_m1.py WEKA_JAR [OUT_DIRECTORY]

Bundled tables go to Weka as ARFF files in a temporary directory, the rounds come back through
DumpBoosting.java. One JSON file a table; README.md says what stands in it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ceiba import datasets

# Numbers without gaps; the last two have three classes.
TABLES = {
    "breast_cancer_diagnostic": 30,
    "nonlinear_boundary": 40,
    "two_moons": 40,
    "wine": 20,
    "balance_scale": 20,
}


def arff(name: str) -> str:
    loaded = datasets.load(name)
    classes = np.unique(loaded.y).tolist()
    head = [f"@relation {name}"]
    head += [f"@attribute 'x{j}' numeric" for j in range(len(loaded.schema))]
    head += [f"@attribute 'the class' {{{','.join(f'c{k}' for k in range(len(classes)))}}}"]
    columns = [loaded.table.column(j) for j in range(len(loaded.schema))]
    body = [
        ",".join([*(repr(float(value)) for value in row), f"c{classes.index(label)}"])
        for row, label in zip(zip(*columns, strict=True), np.asarray(loaded.y), strict=True)
    ]
    return "\n".join([*head, "@data", *body]) + "\n"


def compiled(jar: str, directory: Path) -> list[str]:
    """The command that dumps the rounds."""
    source = Path(__file__).with_name("DumpBoosting.java")
    subprocess.run(["javac", "-cp", jar, "-d", str(directory), str(source)], check=True)
    path = os.pathsep.join([jar, str(directory)])
    return ["java", "-Djava.awt.headless=true", "-cp", path, "DumpBoosting"]


def golden(dump: list[str], name: str, rounds: int, directory: Path) -> dict[str, Any]:
    file = directory / f"{name}.arff"
    file.write_text(arff(name))
    command = [*dump, str(file), str(rounds)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    return {"weka": "3.6.14", "table": name, "max_rounds": rounds, **json.loads(found.stdout)}


def written(record: dict[str, Any]) -> str:
    """JSON with a line for each entry, and for each round."""
    lines = []
    for name, value in record.items():
        text = json.dumps(value)
        if name == "rounds":
            text = "[\n" + ",\n".join(json.dumps(entry) for entry in value) + "\n]"
        lines.append(f"{json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main(jar: str, out: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        dump = compiled(jar, directory)
        for name, rounds in TABLES.items():
            record = golden(dump, name, rounds, directory)
            (out / f"{name}.json").write_text(written(record))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2] if len(sys.argv) > 2 else "."))
