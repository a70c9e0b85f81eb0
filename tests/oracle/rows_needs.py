"""What the theorems of runs need, by statement, asked of plain data: True, False, or None where no run can tell."""

from oracle.rows import dec, lipschitz, norm2, root
from oracle.rows_gradient import parameter_is_enough
from oracle.rows_losses import doubtful_separators, separators
from oracle.rows_matrices import classes
from oracle.rows_perceptron import _kernel, _mistakes, separator
from oracle.rows_steps import short


def _played_once(data):
    """More than one pass shows that they were not; that no row comes twice nobody can tell."""
    return False if any(one["passes"] != 1 for one in data.run.learner.segments) else None


def _rows_weigh_one(data):
    """No other weight, and no row of weight 0 that was left out."""
    return not data.weighted and sum(one["rows"] for one in data.run.learner.segments) == data.T


def _inverse_root(data):
    return abs(dec(data.eta) * root(data.T) - 1) <= dec(2) ** -49


NEEDS = {
    "every round weighs 1": lambda data: not data.weighted,
    "no round was predicted while others waited for their labels": lambda data: True,
    "no round weighs more than 1": lambda data: all(k <= 1 for k in data.k),
    "every update was made at y⟨w,x⟩ ≤ 0, in exact arithmetic": lambda data: _mistakes(data).premise,
    "the run starts at w₁ = 0": lambda data: not any(data.start),
    "a comparator v is given": lambda data: bool(data.by_prefix("v_")),
    "a separator is known: y⟨u,x⟩ ≥ 1 on every round": lambda data: separator(data) is not None,
    "a comparator v for every order is given": lambda data: "v_root" in data.points,
    "the loss is convex in the score": lambda data: None if data.custom else data.loss[0] != "zero-one",
    "the weights are projected on a ball of radius U": lambda data: data.shape == "ball" and float("inf") > data.U,
    "the comparators' ball lies in the learner's domain": lambda data: data.radius <= data.U,
    "the path was replayed: rounds × features at most 2·10⁹": lambda data: data.shape == "ball",
    "every row was played once": _played_once,
    "every row weighs 1": _rows_weigh_one,
    "the rows are independent and alike, and so is the row to come": lambda data: None,
    "this sample's (r‖v‖ + a)² stands for its mean over samples": lambda data: None,
    "rounds × updates × entries of a row are at most 2·10⁹": lambda data: True,
    "the kernel is symmetric and positive semi-definite": lambda data: True,
    "no support was forgotten": lambda data: (data.settings["budget"] or data.T) >= _kernel(data).M,
    "every update was made at y·score ≤ 0, in exact arithmetic": lambda data: _kernel(data).premise,
    "a comparator v in the span of the rounds is given": lambda data: bool(data.by_prefix("c_")),
    "a separator in the span of the rounds is known: y⟨u,φ(x)⟩ ≥ 1 on every round": lambda data: bool(separators(data)),
    "φ(0) > 0, with one slope g of φ at 0": lambda data: data.surrogate[0] != "perceptron",
    "φ is convex": lambda data: True,
    "a comparator u for φ is given": lambda data: "u_surrogate" in data.points,
    "every update was made where a wrong class scored at least as high as the right one, in exact arithmetic": (
        lambda data: classes(data).replayed[0]
    ),
    "every update of a class was made at y⟨w,x⟩ ≤ 0, in exact arithmetic": lambda data: classes(data).replayed[0],
    "comparators V are given": lambda data: bool(set(data.by_prefix("V_")) - {"V_each", "V_apart"}),
    "a comparator for each class is given": lambda data: "V_each" in data.points,
    "a separator is known: ⟨v_y − v_r, x⟩ ≥ 1 on every round for every wrong class r": (
        lambda data: classes(data).separated
    ),
    "G = √2·U/η is at least max‖g_t‖, or line 4 is not above this bound": parameter_is_enough,
    "the step is η = 1/√T for the T rounds played": _inverse_root,
    "no more rounds were played than the horizon": lambda data: int(data.settings["rate"].split(":")[1]) >= data.T,
    "no gradient is longer than G": short,
    "the slope of the loss is bounded by L": lambda data: lipschitz(data.loss) is not None,
    "the weights are cut to the box of radius U": lambda data: data.shape == "box" and float("inf") > data.U,
    "a point θ near the minimum is given": lambda data: "v_quadratic" in data.points,
    "a comparator u is given": lambda data: "v_passive" in data.points and not data.weighted,
    "no row other than 0 is so short that its square is lost: ‖x‖² ≥ 1e-290": (
        lambda data: all(norm2(x) >= 1e-290 for x in data.X if any(x))
    ),
}


def _doubtful(margins):
    """Whether some margin is 0 but for the 100th bit: twice the precision cannot tell on which side it lies."""
    return any(abs(margin) <= size / 2**95 for margin, size in margins if size)


DOUBTS = {  # needs that may be called unmet where they hold, for nothing is claimed then
    "every update was made at y⟨w,x⟩ ≤ 0, in exact arithmetic": lambda data: _doubtful(_mistakes(data).margins),
    "every update was made at y·score ≤ 0, in exact arithmetic": lambda data: _doubtful(_kernel(data).margins),
    "a separator in the span of the rounds is known: y⟨u,φ(x)⟩ ≥ 1 on every round": doubtful_separators,
}
