"""Bridges under other systems' names: old scripts run with changed imports."""
