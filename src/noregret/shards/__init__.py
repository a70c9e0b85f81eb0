"""Rows in parts: each part learns by itself from the weights of all, and after every pass the weights are mixed."""
