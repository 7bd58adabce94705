"""Folders that tests read files from."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
GOLDEN_FILES = ROOT / "tests" / "golden"
