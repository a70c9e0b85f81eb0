"""Shards on one machine or many: who does the work, and what is asked of it."""
