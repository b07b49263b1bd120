"""Stored results: cells of work, the tables they make, and whether these are still true.

Nothing here knows a queue. A study says what its cells compute (`Experiment`); the rest runs them
in processes or on a Dask cluster, stores their table, computes it again and compares.
"""
