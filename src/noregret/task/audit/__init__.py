"""The regret of logged predictions, by whatever model, against the best fixed linear model chosen with hindsight.

A log is a table: a label, what a model said of it (a score, or a hard prediction), and the features beside them. It is
read once for the rows and once for each column that is not a feature; rows are matched by the line they stand on.
"""

from noregret.task.audit.result import Audit, Part, audit

__all__ = ["Audit", "Part", "audit"]
