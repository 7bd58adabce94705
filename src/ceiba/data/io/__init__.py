"""Reading of files: CSV, Parquet and ARFF."""
