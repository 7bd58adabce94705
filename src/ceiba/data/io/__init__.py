"""Reading of files: CSV, Parquet, ARFF and case files of Elvira."""
