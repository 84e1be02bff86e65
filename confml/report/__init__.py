"""Reports of a run, made from stored results: files, figures, and the tables that ``confml run`` prints.

A report is a list of sections (`confml.report.sections`), each found like a method. Only sections with
``refits`` fit models, and no section removes results.
"""
