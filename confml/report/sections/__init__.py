"""Sections of a run's report: one file each, found by their classes (see `base.Section`)."""
