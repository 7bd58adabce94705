"""Mixtures: tables, peers and quality that the workloads share."""
