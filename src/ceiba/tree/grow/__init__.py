"""Grow trees: encode columns, search splits, merge statistics of partitions."""
