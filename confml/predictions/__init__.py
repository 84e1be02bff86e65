"""Predictions of new rows with regions: a table file or DataFrame in, one row of answers per new row out."""
