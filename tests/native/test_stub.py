from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import ceiba

STUB = Path(ceiba.__file__).with_name("_native.pyi")


def test_the_committed_stub_is_the_generated_one(tmp_path):
    generated = tmp_path / "_native.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "ceiba._native"]
    subprocess.run([*command, "-o", str(generated)], check=True)
    assert generated.read_text() == STUB.read_text(), "run `make stubs`"


def test_no_binding_has_more_than_eight_arguments():
    functions = [
        node for node in ast.walk(ast.parse(STUB.read_text())) if isinstance(node, ast.FunctionDef)
    ]
    counts = {
        function.name: sum(
            argument.arg != "self" for argument in function.args.args + function.args.kwonlyargs
        )
        for function in functions
    }
    assert len(counts) > 40
    assert {name: count for name, count in counts.items() if count > 8} == {}
