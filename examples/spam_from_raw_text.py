"""Spam: from raw text to a receipt that anyone can check.

Mails arrive one by one as raw text. A logistic model learns from hashed words in one pass and predicts each mail
before its label is known. Then the run is certified: how much worse was it than the best fixed model, chosen after all
labels were known? The receipt is verified as an auditor would do it, and a report is written.

    python examples/spam_from_raw_text.py [FOLDER]
"""

import csv
import sys
from pathlib import Path

import numpy as np

import noregret as nr

SPAM = "win prize money now offer free click cheap credit winner urgent account pills deal bonus"
HAM = "meeting minutes tuesday lunch report review budget project schedule train family photos notes thanks plan"
COMMON = "the a for you your on of and to with this week please our new about more from"


def mails(count: int, seed: int) -> list[tuple[str, str]]:
    """Subjects made of common words and of words that one kind of mail likes more; some mails are hard to tell."""
    rng = np.random.default_rng(seed)
    common, made = COMMON.split(), []
    for _ in range(count):
        spam = rng.random() < 0.4
        lean = rng.beta(4.0, 1.0)
        own, other = (words.split() for words in ((SPAM, HAM) if spam else (HAM, SPAM)))
        words = [
            rng.choice(common if rng.random() < 0.5 else own if rng.random() < lean else other)
            for _ in range(rng.integers(4, 11))
        ]
        made.append(("spam" if spam else "ham", " ".join(words)))
    return made


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "mail.csv", "w", newline="") as file:
        csv.writer(file).writerows([("label", "subject"), *mails(2000, seed=1)])

    def stream():
        return nr.read(folder / "mail.csv", text=["subject"], hash_bits=12)

    model = nr.OnlineGradientDescent(loss="logistic", radius=5.0, unit_norm=True, bias=True)
    run = nr.play(model, stream(), digest=True)
    always = run.baselines["majority_label"]
    print(f"{run.rounds} mails, {run.mistakes} mistakes; always predicting 'ham' makes {always:.0f}")

    receipt = nr.certify(run, stream())
    regret = receipt.regret
    print(f"certified regret: between {regret['lower']:.3f} and {regret['upper']:.3f}")
    for one in receipt.certificates:
        print(f"  {one['theorem']}: at most {one['bound']:.1f}, {one['verdict']}")

    receipt.save(folder / "receipt.json")
    model.save(folder / "spam.nr")
    checked = nr.verify(folder / "receipt.json", stream())
    print(f"receipt verified: {len(checked.checks)} claims recomputed")
    nr.report(folder / "receipt.json", folder / "spam.nr", output=folder / "report.html")
    print(f"report, to open in a browser: {folder / 'report.html'}")
    print("new mail:", [model.predict_one({"subject": text}) for text in ("win a prize now", "lunch on tuesday")])


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "spam-example"))
