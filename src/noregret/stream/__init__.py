"""Streams: rows and labels from files, tables, arrays and iterables, in blocks, with the place of every row."""
