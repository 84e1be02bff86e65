"""Decisions about a run: tests of differences, the best method, coverage, ranks, completeness, advice.

Console, page, tables, `confml compare` and figures ask here. `losses` has the losses of the test
rows of stored cells, `differences`, `coverage` and `datasets` test them, `standings` does so for each line (a
view of a method on a data set), and `advice` and `answer` say what follows.
"""
