"""Audit a scikit-learn model in production: how good were its predictions, and did the world change?

A logistic regression is trained on old examinations and then used in production. Each row of its log holds the
features, the predicted probability and, later, the true label. Halfway through, a measuring device is replaced, and
one measurement is off from then on. The audit reads only the log.

    python examples/audit_a_model_in_production.py
"""

import pandas
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import noregret as nr

COLUMNS = ["mean radius", "mean texture", "mean smoothness", "mean concavity", "mean symmetry"]
TRAINED, CHANGED = 200, 385


def production_log() -> pandas.DataFrame:
    """What the model saw, what it said, what was true."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X[COLUMNS].sample(frac=1.0, random_state=0)
    y = y[X.index]
    scaler = StandardScaler().fit(X[:TRAINED])
    seen = pandas.DataFrame(scaler.transform(X), columns=COLUMNS)
    model = LogisticRegression().fit(seen[:TRAINED], y[:TRAINED])
    seen.loc[CHANGED:, "mean radius"] += 2.5  # the new device measures too much
    log = seen[TRAINED:].reset_index(drop=True)
    log["probability"] = model.predict_proba(log[COLUMNS])[:, 1]
    log["label"] = y[TRAINED:].to_numpy()
    log["device"] = ["old" if TRAINED + row < CHANGED else "new" for row in log.index]
    return log


def main() -> None:
    log = production_log()
    found = nr.audit(log, probability="probability", radius=5.0, bias=True, segment_by="device", gap=1e-5)
    print(f"{len(log)} predictions in the log; the best fixed linear model in hindsight, and what it would have saved:")
    for part in (found.overall, *found.segments):
        lost, saved = part.loss.hi / part.rounds, part.regret.hi / part.rounds
        wrong = f"{part.rounds} rounds, {part.mistakes:>3} mistakes"
        print(f"  {part.name:<4} {wrong}, loss {lost:.3f} per row, regret {saved:.3f}")
    print(f"drift: one fixed model loses {found.drift.lo:.1f} to {found.drift.hi:.1f} more than one model per device")
    worst = max(found.segments, key=lambda part: part.regret.hi / part.rounds)
    print(f"retrain where the regret per row is largest: on the {worst.name} device")


if __name__ == "__main__":
    main()
