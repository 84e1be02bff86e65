"""Reports of a run, made from stored results: files, figures, and the tables that ``confml run`` prints.

``run`` has the finished cells, one `Variant` (the splits of a method on a data set) at a time. ``tables`` has
a module for each table: a function that returns its rows, and a `Table` that names file and columns.
``answers`` tests, ranks and advises. ``figures``, ``forms`` and ``page`` show what these return.
"""
