"""Decisions about a run: tests of differences, the best method, coverage, ranks, completeness, advice.

Console, page, tables, `confml compare` and figures ask here. The files up to `thresholds` take
arrays and mappings; `evidence` collects these from stored cells, and `standings` puts both together.
"""
