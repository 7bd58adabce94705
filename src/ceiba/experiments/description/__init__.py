"""Experiments described by text: names of learners, tables, files in TOML."""
