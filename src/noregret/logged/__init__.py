"""Logs: tables of labels, what a model said of them, and the features beside them, read to whoever takes the rounds.

A log is read once for the rows and once for each column that is not a feature; rows are matched by the line they stand
on. One that is a Parquet file of plain numbers can be read column by column instead, where sums are all that is wanted.
"""
