"""Thin bridges under other systems' names: old scripts move by changing their imports."""
