"""The rule of the same bits: no BLAS, no NumPy reduction and no function of the C library in a number that is stated.

`noregret/arithmetic.py` has sums in a stated order and functions of the core's own. The source is walked for the calls
that depend on the machine; what may use them is listed with the reason.
"""

import ast
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import noregret
from noregret import arithmetic

SOURCE = Path(noregret.__file__).parent
LIBM = {
    *(
        "exp",
        "exp2",
        "expm1",
        "log",
        "log1p",
        "log2",
        "log10",
        "pow",
        "hypot",
        "lgamma",
        "gamma",
        "erf",
        "erfc",
        "cbrt",
    ),
    *("sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "atan2", "arcsin", "arccos", "arctan"),
    *("logaddexp", "power", "float_power"),
}
REDUCTIONS = {
    *("sum", "mean", "var", "std", "prod", "dot", "inner", "vdot", "einsum", "matmul", "average"),
    *("trace", "tensordot", "convolve", "correlate", "nansum", "nanmean", "median", "quantile", "percentile"),
}
METHODS = {"sum", "mean", "var", "std", "prod", "dot", "trace"}  # a running sum has one order only

# Folders and files whose numbers are stated nowhere.
FREE = {
    "bench": "times and seeded workloads, stated in no receipt",
    "proof/solve": "solvers search for a point; enclose.py certifies it afterwards",
    "picture": "pictures",
    "task/separate": "solvers search; what they find is proved in rationals",
    "tour": "seeded examples of the demonstration",
    "reporting": "the layout of pages",
}
# file: (calls, why they may stand)
ALLOWED: dict[str, tuple[set[str], str]] = {
    "adversary.py": ({".sum"}, "whole numbers of Python"),
    "mean.py": ({".sum"}, "whole numbers of Python"),
    "finite/families.py": ({"@", "**"}, "whole numbers"),
    "finite/dimension.py": ({".sum"}, "whole numbers"),
    "proof/facts/classes.py": ({".sum"}, "whole numbers"),
    "proof/theorems/batch.py": ({"@"}, "whole numbers"),
    "stream/block.py": ({".sum"}, "asked only whether it is finite"),
    "summary.py": ({"math.log10"}, "how many figures are shown"),
    "watch/shown.py": ({"math.log10"}, "how many figures are shown"),
}


def machine_dependent(tree: ast.AST) -> list[tuple[int, str]]:
    """(line, call) of everything that other machines may round otherwise; sums of whole numbers say so with int()."""
    whole = {
        id(inside)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int"
        for inside in ast.walk(node)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            found.append((node.lineno, "@"))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and not _whole_power(node):
            found.append((node.lineno, "**"))
        elif isinstance(node, ast.Attribute) and node.attr == "linalg":
            found.append((node.lineno, "linalg"))
        elif isinstance(node, ast.Attribute) and node.attr == "longdouble":
            found.append((node.lineno, "longdouble"))
        elif isinstance(node, ast.Attribute) and node.attr in LIBM and ast.unparse(node.value) in ("math", "np"):
            found.append((node.lineno, ast.unparse(node)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and id(node) not in whole:
            of, name = node.func.value, node.func.attr
            if isinstance(of, ast.Name) and of.id == "np" and name in REDUCTIONS:
                found.append((node.lineno, f"np.{name}"))
            elif name in METHODS and not (isinstance(of, ast.Name) and of.id in ("np", "math", "arithmetic")):
                found.append((node.lineno, f".{name}"))
    return found


def _whole_power(node: ast.BinOp) -> bool:
    """Powers of 2 and 10 are exact; the square of an array is a product, and so is that of a fraction."""
    exact = isinstance(node.left, ast.Constant) and node.left.value in (2, 10, 2.0, 10.0)
    return exact or (isinstance(node.right, ast.Constant) and node.right.value == 2)


def uses() -> list[tuple[str, int, str]]:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if any(name.startswith(f"{folder}/") for folder in FREE):
            continue
        found += [(name, *use) for use in machine_dependent(ast.parse(path.read_text()))]
    return found


def test_no_number_that_is_stated_depends_on_the_machine():
    wrong = [f"{file}:{line}: {call}" for file, line, call in uses() if call not in ALLOWED.get(file, (set(), ""))[0]]
    assert not wrong, f"use noregret.arithmetic, or say here why it may stand: {wrong}"


def test_the_list_of_exceptions_is_no_longer_than_needed():
    used = {(file, call) for file, _, call in uses()}
    assert {(file, call) for file, (calls, _) in ALLOWED.items() for call in calls} <= used
    assert all((SOURCE / name).exists() for name in FREE)


@pytest.mark.parametrize(
    "line",
    [
        *("x @ y", "np.linalg.norm(x)", "np.sum(x)", "x.sum()", "x.mean(axis=1)", "math.log(x)", "np.exp(x)", "x**0.5"),
        *(
            "x**y",
            "np.longdouble(1)",
            "float(x.sum())",
            "np.einsum('i,i', x, x)",
            "math.hypot(x, y)",
            "map(math.exp, x)",
        ),
    ],
)
def test_the_walk_finds(line):
    assert machine_dependent(ast.parse(line))


@pytest.mark.parametrize(
    "line", ["2.0**-53", "int(x.sum())", "math.fsum(x)", "np.sqrt(x)", "arithmetic.mean(x)", "x**2"]
)
def test_the_walk_leaves(line):
    assert not machine_dependent(ast.parse(line))


vectors = arrays(np.float64, st.integers(0, 40), elements=st.floats(-1e9, 1e9))


def lanes(terms: list[float], count: int = 4) -> float:
    """Parts by position, each from its first entry on, four or sixteen of them; these are added as the core states."""
    p = [0.0] * count
    for i, term in enumerate(terms):
        p[i % count] += term
    if count == 16:
        p = [(p[k] + p[k + 4]) + (p[k + 8] + p[k + 12]) for k in range(4)]
    return (p[0] + p[2]) + (p[1] + p[3])


@given(vectors)
def test_sums_are_taken_in_the_stated_parts(x):
    assert arithmetic.total(x) == lanes(x.tolist())
    assert arithmetic.norm2(x) == lanes([a * a for a in x.tolist()], 16)
    assert arithmetic.inner(x, x[::-1]) == lanes([a * b for a, b in zip(x.tolist(), x[::-1].tolist(), strict=True)])
    assert arithmetic.total(np.repeat(x, 2)[::2]) == arithmetic.total(x)
    assert math.isnan(arithmetic.mean(x)) if not len(x) else arithmetic.mean(x) == arithmetic.total(x) / len(x)


@given(arrays(np.float64, st.integers(1, 9), elements=st.floats(-1e300, 1e300)))
def test_norms_neither_overflow_nor_vanish(x):
    exact = sum(Fraction(a) ** 2 for a in x.tolist())
    found = Fraction(arithmetic.norm(x))
    assert abs(found * found - exact) <= exact * Fraction(1, 2**48)


@given(arrays(np.float64, st.tuples(st.integers(0, 5), st.integers(0, 9)), elements=st.floats(-1e9, 1e9)))
def test_rows_are_added_from_left_to_right(table):
    wanted = []
    for row in table.tolist():
        total = 0.0
        for x in row:
            total += x
        wanted.append(total)
    assert arithmetic.row_totals(table).tolist() == wanted


@given(st.integers(1, 2**1200))
def test_logarithms_of_whole_numbers(n):
    assert math.isclose(arithmetic.log_of_whole(n), math.log(n), rel_tol=1e-14)
    assert math.isclose(arithmetic.log2_of_whole(n), math.log2(n), rel_tol=1e-14)
    assert arithmetic.log2_of_whole(1 << (n % 3000)) == n % 3000


def test_functions_keep_the_shape_of_an_array():
    x = np.array([[0.0, 1.0], [2.0, -3.0]])
    assert arithmetic.exp(x).shape == (2, 2)
    assert arithmetic.exp(x).tolist() == [[arithmetic.exp(a) for a in row] for row in x.tolist()]
