"""One line a learner: what the contract tests run over. A new loss enters by itself."""

import numpy as np
import scipy.sparse

from noregret.learner import LEARNERS
from noregret.loss import LOSSES, parse
from noregret.stream import Dense, Sparse
from oracle import classes

SPECS = [*LOSSES, "margin-hinge:0.5", "huber:0.3", "pinball:0.9"]
TIES = ["mistake", "+1", "-1"]

MAKE = {
    "perceptron": lambda spec, **more: LEARNERS["perceptron"](**more),
    "voted": lambda spec, **more: LEARNERS["voted"](**more),
    "multiclass": lambda spec, **more: LEARNERS["multiclass"](**more),
    "ogd": lambda spec, **more: LEARNERS["ogd"](loss=spec, radius=1.5, **more),
    "ogd-strong": lambda spec, **more: LEARNERS["ogd-strong"](loss=spec, sigma=0.5, radius=1.5, **more),
    "second-order": lambda spec, **more: LEARNERS["second-order"](ridge=0.5, **more),
    "markov": lambda spec, **more: LEARNERS["markov"](**({"order": 2} | more)),
    "naive-bayes": lambda spec, **more: LEARNERS["naive-bayes"](**more),
    "nearest": lambda spec, **more: LEARNERS["nearest"](**({"window": 30, "neighbours": 4} | more)),
    "nearest-numbers": lambda spec, **more: LEARNERS["nearest-numbers"](**({"window": 30, "neighbours": 4} | more)),
    "vaw": lambda spec, **more: LEARNERS["vaw"](ridge=0.5, **more),
    "newton": lambda spec, **more: LEARNERS["newton"](ridge=0.5, walk=0.02, **more),
    "ridge": lambda spec, **more: LEARNERS["ridge"](ridge=0.5, forgetting=0.03, **more),
    "persistence": lambda spec, **more: LEARNERS["persistence"](rule="drift", **more),
    "diagonal": lambda spec, **more: LEARNERS["diagonal"](ridge=0.5, **more),
    "kernel": lambda spec, **more: LEARNERS["kernel"](kernel="linear", **more),  # the perceptron by other means
}
MAKE |= {
    "averaged": lambda spec, **more: LEARNERS["averaged"](**more),
    "pa": lambda spec, **more: LEARNERS["pa"](loss=spec, **more),
    "pa1": lambda spec, **more: LEARNERS["pa1"](loss=spec, **more),
    "pa2": lambda spec, **more: LEARNERS["pa2"](loss=spec, aggressiveness=0.7, **more),
    "adagrad": lambda spec, **more: LEARNERS["adagrad"](loss=spec, radius=0.7, rate="constant:0.4", **more),
    "ftrl": lambda spec, **more: LEARNERS["ftrl"](
        loss=spec, radius=0.9, rate="constant:0.6", beta=0.5, l1=0.2, l2=0.1, **more
    ),
    "scale-free": lambda spec, **more: LEARNERS["scale-free"](loss=spec, **more),
    "coin": lambda spec, **more: LEARNERS["coin"](loss=spec, gradient_bound=50.0, **more),
}
# forecasters of many classes, each with its twin
FORECASTERS = {
    "softmax": (lambda **more: LEARNERS["softmax"](rate=0.3, **more), lambda: classes.Softmax(0.3)),
    "softmax-newton": (lambda **more: LEARNERS["softmax-newton"](ridge=2.0, **more), lambda: classes.Newton(2.0)),
    "markov-classes": (lambda **more: LEARNERS["markov-classes"](order=1, **more), lambda: classes.Succession(1)),
    "nearest-classes": (
        lambda **more: LEARNERS["nearest-classes"](**({"window": 30, "neighbours": 4, "smoothing": 0.1} | more)),
        lambda: classes.Nearest(30, 4, 0.1),
    ),
}
MAKE |= {name: lambda spec, make=make, **more: make(**more) for name, (make, _) in FORECASTERS.items()}
# learners with a loss of their own, and learners of a few losses; all others play every loss. Many classes are apart
NUMBERS = ("vaw", "ridge", "persistence", "nearest-numbers")
OWN = {
    **dict.fromkeys(("perceptron", "averaged", "voted", "kernel", "second-order"), "perceptron"),
    **dict.fromkeys(("markov", "naive-bayes", "nearest"), "logistic"),
    "newton": "logistic",
    "diagonal": "logistic",
    **dict.fromkeys(NUMBERS, "squared"),
}
SOME = dict.fromkeys(("pa", "pa1", "pa2"), ("hinge", "absolute", "epsilon-insensitive"))
SOME |= dict.fromkeys(("adagrad", "ftrl", "coin"), ("logistic", "hinge", "squared", "pinball:0.9"))
SOME |= {"scale-free": ("logistic", "hinge", "margin-hinge:0.5", "absolute", "huber:0.3", "pinball:0.9")}
MAKE |= {"auto": lambda spec, **more: LEARNERS["auto"](**more)}  # a pool: test_auto_contract.py
UNWEIGHTED = (
    "markov",
    "naive-bayes",
    "nearest",
    "nearest-numbers",
)  # their score is no ⟨w, x⟩: they have no weights to compare
CASES = list(OWN.items())
MANY = ("multiclass", *FORECASTERS, "auto")
CASES += [(name, spec) for name in MAKE if name not in (*OWN, *MANY) for spec in SOME.get(name, SPECS)]
NAMES = [f"{name}-{spec}" for name, spec in CASES]


def sparse(X):
    matrix = scipy.sparse.csr_matrix(X)
    return Sparse(matrix.indptr.astype(np.int64), matrix.indices.astype(np.uint32), matrix.data)


LAYOUTS = {
    "dense": Dense,
    "sparse": sparse,
    "dense32": lambda X: Dense(X.astype(np.float32)),
    "sparse32": lambda X: sparse(X.astype(np.float32)),
}


def data(spec, rounds, columns, seed, size=0.5, density=0.7):
    """A stream in general position: normal entries, some of them 0, labels of the loss's kind."""
    rng = np.random.default_rng(seed)
    X = rng.normal(scale=size, size=(rounds, columns)) * (rng.random((rounds, columns)) < density)
    y = rng.normal(size=rounds) if parse(spec).regression else rng.choice([-1.0, 1.0], rounds)
    return X, y


def everything(core):
    """All that going on depends on, as bytes: equal bytes are equal learners."""
    features = core.features.to_dict() if core.features else None
    labels = core.labels.to_dict() if core.labels else None
    own = core.kept()
    views = [
        own.pop(name) for name in list(own) if name.startswith("view")
    ]  # of a pool, how its members' rows are made
    prepared = [np.trim_zeros(np.ravel(array), "b") for array in (*core.preparation.arrays().values(), *views)]
    arrays = core.state, *own.values(), *prepared  # room to grow is not state
    rest = repr((core.width, features, labels, core.segments))
    return b"".join([*(array.tobytes() for array in arrays), rest.encode()])
