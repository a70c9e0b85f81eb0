"""The regret of logged predictions, by whatever model, against the best fixed linear model chosen with hindsight.

`audit` solves for that model; `audit_pass` bounds the regret in one pass, without solving and without keeping rows.
"""

from noregret.task.audit.passing import Passed, PassedPart, audit_pass
from noregret.task.audit.result import Audit, Part, audit

__all__ = ["Audit", "Part", "Passed", "PassedPart", "audit", "audit_pass"]
