"""Judgements on the results of runs, the only place that tests, ranks and advises.

`losses` has the rows of stored cells; `differences`, `coverage` and `datasets` test them; `comparisons` does
so for each line (a view of a method on a data set); `accepted`, `advice` and `answer` write the sentences.
"""
