"""How units run: threads, processes, Dask, journal, progress and record."""
