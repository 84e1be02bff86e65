"""The input of a report: stored cells, read in one pass."""
