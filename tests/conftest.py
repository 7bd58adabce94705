"""Stands here so that tests can import the naive versions: ``from oracles import ...``."""
