"""How fast the library is, and how little memory it takes, against the usual way.

``python -m benchmarks`` prints the tables; the usual ways are in `usual_mean_field` and
`usual_finite`. The tests check that they give the same numbers as the library.
"""
