"""Tables of a run's report: one module each, listed in `confml.report.tables.known`."""
