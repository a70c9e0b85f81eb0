"""VC and Littlestone dimension: against definitions, closed forms and golden numbers; every witness is checked."""

import math
import os
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret.errors import SettingError
from noregret.finite import HypothesisClass, MistakeTree, dimensions, family, shatters_set, shatters_tree
from noregret.finite.dimension import Depths
from oracle import finite as oracle

THOROUGH = bool(os.environ.get("NOREGRET_THOROUGH"))


def checked(hypotheses, **options):
    """The dimensions, their witnesses looked at by the checkers."""
    found = dimensions(hypotheses, **options)
    assert shatters_tree(hypotheses, found.tree) and found.tree.depth == found.littlestone.lower
    assert shatters_set(hypotheses, found.shattered) and len(found.shattered) == found.vc.lower
    assert found.vc.lower <= found.littlestone.upper <= len(hypotheses).bit_length() - 1
    assert found.vc.upper <= found.littlestone.upper
    return found


def exact(hypotheses):
    found = checked(hypotheses)
    assert found.vc.exact and found.littlestone.exact
    return found.vc.lower, found.littlestone.lower


# name: VC (None where the table has none), Littlestone. The table of the theory and the closed forms.
TABLE = {
    "singletons:1": (0, 0),
    "singletons:2": (1, 1),
    "singletons:64": (1, 1),
    "thresholds:15": (1, 4),
    "thresholds:127": (1, 7),
    "thresholds:1023": (1, 10),
    "cube:12": (12, 12),
    "intervals:4": (2, 3),
    "intervals:6": (2, 4),
    "intervals:9": (2, 5),
    "intervals:5": (2, 3),
    "intervals:8": (2, 4),
    "intervals:12": (2, 5),
    "intervals:20": (2, 7),
    "intervals:40": (2, 9),
    "intervals:64": (2, 10),
    "subsets:2,6": (2, 2),
    "subsets:4,8": (4, 4),
    "subsets:5,12": (5, 5),
    "at-most:3,8": (3, 3),
    "monotone-conjunctions:5": (5, 5),
    "conjunctions:2": (2, 3),
    "conjunctions:3": (3, 4),
    "conjunctions:4": (4, 5),
    "conjunctions:5": (None, 6),
    "parities:5": (5, 5),
    "parities:8": (None, 8),
    "halfspaces:2": (3, 3),
    "halfspaces:3": (3, 5),
    "halfspaces:4": (3, 7),
    "halfspaces:5": (None, 8),
    "halfspaces:6": (None, 9),
    "unions:2,10": (4, 7),
    "unions:2,14": (4, 9),
    **{f"thresholds:{n}": (1, (n + 1).bit_length() - 1) for n in (1, 2, 3, 4, 6, 7, 31, 62, 63, 300)},
    **{f"cube:{n}": (n, n) for n in (1, 2, 7)},
    **{f"subsets:{k},{n}": (k, k) for k, n in ((1, 2), (3, 6), (3, 9))},
    **{f"at-most:{k},{n}": (min(k, n),) * 2 for k, n in ((0, 3), (2, 7), (5, 4))},
    **{f"monotone-conjunctions:{n}": (n, n) for n in (1, 2, 3)},
    **{f"parities:{n}": (n, n) for n in (1, 2, 3)},
    **{f"variables:{n}": (n.bit_length() - 1,) * 2 for n in (1, 2, 5, 8)},
    **{f"two-sided-thresholds:{n}": (2, None) for n in (3, 10, 40)},
}


@pytest.mark.parametrize("name", TABLE)
def test_a_family_has_the_dimensions_of_the_table(name):
    for found, expected in zip(exact(family(name)), TABLE[name], strict=True):
        assert expected is None or found == expected


# The project's golden numbers: family, hypotheses, VC, Ldim.
GOLDEN = [
    ("singletons:1", 1, 0, 0),
    ("singletons:3", 3, 1, 1),
    ("thresholds:1", 2, 1, 1),
    ("thresholds:3", 4, 1, 2),
    ("thresholds:7", 8, 1, 3),
    ("thresholds:15", 16, 1, 4),
    ("cube:1", 2, 1, 1),
    ("cube:3", 8, 3, 3),
    ("intervals:1", 2, 1, 1),
    ("intervals:3", 7, 2, 2),
    ("intervals:5", 16, 2, 3),
    ("intervals:7", 29, 2, 4),
    ("intervals:9", 46, 2, 5),
    ("intervals:11", 67, 2, 5),
    ("subsets:2,4", 6, 2, 2),
    ("subsets:3,6", 20, 3, 3),
    ("subsets:4,8", 70, 4, 4),
    ("at-most:3,8", 93, 3, 3),
    ("monotone-conjunctions:2", 4, 2, 2),
    ("monotone-conjunctions:4", 16, 4, 4),
    ("conjunctions:2", 10, 2, 3),
    ("conjunctions:4", 82, 4, 5),
    ("parities:2", 4, 2, 2),
    ("parities:4", 16, 4, 4),
    ("halfspaces:3", 58, 3, 5),
]


@pytest.mark.parametrize(("name", "size", "vc", "ldim"), GOLDEN)
def test_the_golden_numbers(name, size, vc, ldim):
    hypotheses = family(name)
    assert (len(hypotheses), *exact(hypotheses)) == (size, vc, ldim)


matrices = st.integers(1, 6).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 1), min_size=n, max_size=n), min_size=1, max_size=14)
)


@given(matrices)
def test_the_definitions_agree(rows):
    hypotheses = HypothesisClass(rows)
    distinct = [tuple(row) for row in hypotheses.matrix.tolist()]
    assert exact(hypotheses) == (oracle.vc(distinct), oracle.ldim(frozenset(distinct)))


def random_class(rng):
    rows, columns = int(rng.integers(1, 33)), int(rng.integers(1, 9))
    return HypothesisClass(rng.random((rows, columns)) < rng.uniform(0.1, 0.9))


def test_random_classes_against_the_oracle():
    rng = np.random.default_rng(11)
    for _ in range(2000 if THOROUGH else 150):
        hypotheses = random_class(rng)
        distinct = [tuple(row) for row in hypotheses.matrix.tolist()]
        assert exact(hypotheses) == (oracle.vc(distinct), oracle.ldim(frozenset(distinct)))
        oracle.ldim.cache_clear()


def test_larger_random_classes_against_the_plain_algorithm():
    rng = np.random.default_rng(12)
    for rows, columns in [(70, 8), (130, 9), (200, 12), (300, 10), (64, 30), (128, 70), (600, 13)]:
        hypotheses = HypothesisClass(rng.integers(0, 2, (rows, columns)))
        assert exact(hypotheses)[1] == oracle.plain_ldim(hypotheses.matrix.tolist())


@given(matrices, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_columns_and_turned_columns_change_nothing(rows, random):
    matrix = np.array(rows)
    turned = np.array([random.randint(0, 1) for _ in range(matrix.shape[1])])
    order, across = list(range(len(matrix))), list(range(matrix.shape[1]))
    random.shuffle(order), random.shuffle(across)
    assert exact(HypothesisClass((matrix ^ turned)[order][:, across])) == exact(HypothesisClass(matrix))


def test_the_empty_class_has_dimension_minus_one():
    found = dimensions(HypothesisClass(np.zeros((0, 3))))
    assert (found.vc.lower, found.vc.upper, found.littlestone.lower, found.littlestone.upper) == (-1, -1, -1, -1)
    assert Depths(family("cube:2")).dimension(0) == -1


def test_a_class_without_points_has_dimension_zero():
    assert exact(HypothesisClass(np.zeros((2, 0)))) == (0, 0)


def test_one_memory_answers_for_every_version_space():
    rng = np.random.default_rng(5)
    hypotheses = HypothesisClass(rng.integers(0, 2, (90, 7)))
    depths = Depths(hypotheses)
    for _ in range(200):
        chosen = rng.choice(len(hypotheses), int(rng.integers(1, 30)), replace=False)
        space = sum(1 << int(i) for i in chosen)
        rows = frozenset(tuple(hypotheses.matrix[i].tolist()) for i in chosen)
        assert depths.dimension(space) == oracle.ldim(rows)


def test_a_full_memory_is_emptied_and_the_answer_stays(monkeypatch):
    monkeypatch.setattr("noregret.finite.dimension.SLOTS", 64)
    monkeypatch.setattr("noregret.finite.dimension.KEYS", 600)
    rng = np.random.default_rng(6)
    for name in ("intervals:20", "halfspaces:4", "unions:2,10"):
        assert exact(family(name))[1] == TABLE[name][1]
    hypotheses = HypothesisClass(rng.integers(0, 2, (200, 10)))
    assert exact(hypotheses)[1] == oracle.plain_ldim(hypotheses.matrix.tolist())


def test_work_in_small_slices_finds_the_same(monkeypatch):
    monkeypatch.setattr("noregret.finite.dimension.FIRST", 1)
    monkeypatch.setattr("noregret.finite.dimension.SLICE", 0.0)  # every slice is then as short as it can be
    for name in ("intervals:20", "halfspaces:4", "unions:2,10"):
        vc, ldim = exact(family(name))
        assert ldim == TABLE[name][1] and vc == (TABLE[name][0] or vc)


def test_when_the_time_is_over_the_interval_is_honest_and_has_its_witness():
    hypotheses = HypothesisClass(np.random.default_rng(0).integers(0, 2, (4096, 24)))
    began = time.perf_counter()
    found = checked(hypotheses, seconds=1.5)
    assert time.perf_counter() - began < 10.0
    assert found.vc.lower < found.vc.upper and found.vc.upper - found.vc.lower <= 3
    assert found.littlestone.upper - found.littlestone.lower <= 2
    told = found.to_dict()
    assert told["vc"] is None and told["vc_bounds"] == {"lower": found.vc.lower, "upper": found.vc.upper}
    with pytest.raises(SettingError, match="dimensions: seconds must be positive, got 0"):
        dimensions(hypotheses, seconds=0)


def test_progress_is_told_and_closes_in():
    told = []
    found = dimensions(family("halfspaces:6"), progress=lambda *said: told.append(said))
    depths = [(lower, upper) for what, lower, upper, _ in told if what == "Littlestone"]
    assert depths[-1] == (found.littlestone.lower, found.littlestone.upper)
    assert all(a[0] <= b[0] <= b[1] <= a[1] for a, b in pairwise(depths))


@pytest.mark.parametrize("name", ["thresholds:1023", "cube:12"])
def test_large_classes_have_the_dimension_that_the_plain_algorithm_finds(name):
    hypotheses = family(name)
    assert dimensions(hypotheses).littlestone.lower == oracle.plain_ldim(hypotheses.matrix.tolist())


def test_the_checkers_refuse_what_is_not_shattered():
    thresholds = family("thresholds:3")
    assert shatters_tree(thresholds, MistakeTree(2, (1, 0, 2)))
    assert not shatters_tree(thresholds, MistakeTree(2, (1, 2, 0)))  # the sides as the printed text has them
    assert not shatters_tree(thresholds, MistakeTree(2, (0, 1, 2)))
    assert shatters_set(thresholds, [1]) and not shatters_set(thresholds, [0, 1])
    assert shatters_set(thresholds, []) and not shatters_set(HypothesisClass(np.zeros((0, 1))), [])
    with pytest.raises(SettingError, match="MistakeTree: depth 2 takes 3 points, got 2"):
        MistakeTree(2, (0, 1))


def test_the_tree_of_figure_21_1():
    # The project's golden numbers: v1 above v2 and v3; a star may be either label.
    rows = [(0, 0, a) for a in (0, 1)] + [(0, 1, a) for a in (0, 1)]
    rows += [(1, a, 0) for a in (0, 1)] + [(1, a, 1) for a in (0, 1)]
    tree = MistakeTree(2, ("v1", "v2", "v3"))
    for stars in range(16):
        chosen = [rows[2 * i + (stars >> i & 1)] for i in range(4)]
        assert shatters_tree(HypothesisClass(chosen, points=["v1", "v2", "v3"]), tree)
    assert tree.path([1, 0]) == [1, 3]
    labels = [1, 0, 1, 1]
    nodes = MistakeTree(4, tuple(range(15))).path(labels)
    assert nodes == [2**t + sum(labels[j] * 2 ** (t - 1 - j) for j in range(t)) for t in range(4)]


def test_k_nested_thresholds_force_log2_k_and_dimension_d_hides_log2_d_of_them():
    rng = np.random.default_rng(8)
    for _ in range(30):
        hypotheses = random_class(rng)
        ldim = exact(hypotheses)[1]
        chain = longest_thresholds(hypotheses.matrix)
        assert ldim >= math.floor(math.log2(chain)) and chain >= (ldim.bit_length() - 1 if ldim else 0)


def longest_thresholds(matrix):
    """The most hypotheses h_1 … h_k for which there are points x_1 … x_{k−1} with h_i(x_j) = 1[j < i], or its turn."""
    rows, columns = matrix.shape
    if rows < 2:
        return rows
    best = 1

    def grow(chain, points):
        nonlocal best
        best = max(best, len(chain))
        for x in range(columns):
            if all(matrix[h, x] == 0 for h in chain):
                for h in range(rows):
                    if matrix[h, x] == 1 and all(matrix[h, p] == 1 for p in points):
                        grow([*chain, h], [*points, x])

    for h in range(rows):
        if best < 5:
            grow([h], [])
    return best
