"""Random forests, grown natively."""
