from __future__ import annotations

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
