"""What the compiled core offers; `native/` says what each function does."""

from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Places = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Features = NDArray[np.uint32]
NativeRows = Any  # a matrix, or the triple (indptr, indices, values)
Record = NDArray[Any]

BUILD: Literal["plain", "v3"]

# state
STATE_FIELDS: list[tuple[str, str, int, tuple[int, ...]]]
CONFIG_FIELDS: list[tuple[str, str, int, tuple[int, ...]]]
STATE_BYTES: int
CONFIG_BYTES: int
REFRESH: int
WINDOW: int
BINS: int
WARM: int
SIZES: int
COVER_NUMBERS: int
COVER_COUNTS: int
SMALL: int
SMALL_REFRESH: int
POINTS: int
ROWS: int
WHOLE: int
BALL: int
BOX: int
CROSS: int
SIMPLEX: int
CONSTANT: int
SQRT: int
STRONG: int
ADAPTIVE: int
DELAYED: int
DOUBLING: int
PASSIVE: int
PASSIVE_CAPPED: int
PASSIVE_SOFT: int
COIN: int
NORMALISED: int
GRADIENTS: int
COUNTED_NUMBERS: int
PLATT_NUMBERS: int
ALARM_NUMBERS: int
TEMPERATURE_NUMBERS: int
TILE: int
AVERAGE: int

# rounds
COORDINATE_KINDS: dict[str, tuple[int, int]]  # the code of the rate, and the columns of the table
TRUNCATED_COLUMNS: int
LOWEST: int
LEAST_CURVATURE: float
LARGEST_EXPONENT: float

class Loss:
    def __init__(
        self, of: str | Callable[[float, float], float] | int, rest: float | Callable[[float, float], float], /
    ) -> None: ...
    def both(self, z: float, y: float, /) -> tuple[float, float]: ...

def loss_values(loss: Loss, z: Floats, y: Floats, out: Floats, /) -> None: ...
def loss_slopes(loss: Loss, z: Floats, y: Floats, out: Floats, /) -> None: ...
def play_linear(
    loss: Loss,
    rows: NativeRows,
    labels: Floats,
    weights: Floats,
    z: Floats,
    total: Floats,
    record: Record,
    scores: Floats,
    /,
) -> int: ...
def play_coordinates(
    loss: Loss, rows: NativeRows, labels: Floats, weights: Floats, table: Floats, record: Record, scores: Floats, /
) -> int: ...
def play_truncated(
    loss: Loss, rows: NativeRows, labels: Floats, weights: Floats, table: Floats, record: Record, scores: Floats, /
) -> int: ...
@overload
def score_linear(rows: NativeRows, z: Floats, record: Record, scores: Floats, /) -> None: ...
@overload
def score_linear(rows: NativeRows, z: Floats, scale: float, bias: float, scores: Floats, /) -> None: ...
def score_mean(rows: NativeRows, z: Floats, late: Floats, record: Record, scores: Floats, /) -> None: ...
def score_coordinates(rows: NativeRows, table: Floats, record: Record, scores: Floats, /) -> None: ...
def score_truncated(rows: NativeRows, table: Floats, record: Record, scores: Floats, /) -> None: ...
def products(rows: NativeRows, z: Floats, out: Floats, /) -> None: ...
def score_bin(score: float, /) -> int: ...
def foresee(record: Record, rounds: int, /) -> None: ...
def norm2(z: Floats, /) -> float: ...
def norm1(z: Floats, /) -> float: ...
def largest(z: Floats, /) -> float: ...
def lowest(z: Floats, /) -> float: ...
def two_values(y: Floats, /) -> tuple[float, float, bool]: ...
def narrowed(indices: NDArray[Any], highest: int, out: NDArray[np.uint32], /) -> int: ...

# single examples
LINEAR: int
MEAN: int
COORDINATES: int
TRUNCATED: int
OTHERWISE: int
PLAYED: int
ROOM_NEEDED: int

class Lock:
    def __enter__(self) -> None: ...
    def __exit__(self, *what: object) -> None: ...

class Single:
    def __init__(
        self,
        lock: Lock,
        loss: Loss,
        kind: int,
        z: Floats,
        total: Floats,
        record: Record,
        extent: Ints,
        columns: bool,
        /,
    ) -> None: ...
    def name(self, index: dict[str, int], names: list[str], slots: int, /) -> None: ...
    def score(self, x: Any, /) -> float | None: ...
    def play(self, x: Any, y: float, /) -> int: ...

class Chain:
    """Calls made one after another, their arguments read once."""

    def __init__(self, steps: list[tuple[Callable[..., Any], tuple[Any, ...], Floats | None]], /) -> None: ...
    def play(self) -> list[int] | None: ...
    @property
    def direct(self) -> int: ...

def read_values(given: dict[Any, Any], keys: tuple[Any, ...], out: Floats, /) -> bool: ...

# functions and sums
def exp(x: float, /) -> float: ...
def exp_all(x: Floats, out: Floats, /) -> None: ...
def expm1(x: float, /) -> float: ...
def expm1_all(x: Floats, out: Floats, /) -> None: ...
def log(x: float, /) -> float: ...
def log_all(x: Floats, out: Floats, /) -> None: ...
def log1p(x: float, /) -> float: ...
def log1p_all(x: Floats, out: Floats, /) -> None: ...
def tanh(x: float, /) -> float: ...
def tanh_all(x: Floats, out: Floats, /) -> None: ...
def cos(x: float, /) -> float: ...
def cos_all(x: Floats, out: Floats, /) -> None: ...
def sin(x: float, /) -> float: ...
def sin_all(x: Floats, out: Floats, /) -> None: ...
def log_gamma(x: float, /) -> float: ...
def log_gamma_all(x: Floats, out: Floats, /) -> None: ...
def normal_all(whole: NDArray[np.uint64], out: Floats, /) -> None: ...
def total(z: Floats, /) -> float: ...
def inner(x: Floats, z: Floats, /) -> float: ...

# kernels
DOT: int
SQUARE: int
ABSOLUTE: int
PANEL: int
TILE_ROWS: int
OLDEST: int
RANDOM: int

def exponential(x: float, /) -> float: ...
def kernel_value(kind: int, op: int, coef0: float, gamma: float, degree: int, x: Floats, z: Floats, /) -> float: ...
def kernel_values(
    kind: int, G: Floats, first: int, last: int, bias: float, coef0: float, gamma: float, degree: int, /
) -> None: ...
def panel_sums(op: int, panels: Floats, first: int, last: int, rows: Floats, G: Floats, to: int, /) -> None: ...
def lay(rows: Floats, which: Ints, panels: Floats, slots: Ints, /) -> None: ...
def take(panels: Floats, slots: Ints, out: Floats, /) -> None: ...
def sparse_sums(
    op: int,
    starts: Ints,
    stops: Ints,
    features: NDArray[np.uint32],
    values: Floats,
    rows: NativeRows,
    spread: Floats,
    G: Floats,
    to: int,
    /,
) -> None: ...
def own_values(kernel: int, stored: Floats, rows: Floats, G: Floats, to: int, /) -> None: ...
def fold_matrix(once: Floats, twice: Floats, columns: Floats, first: int, last: int, A: Floats, /) -> None: ...
def fold_line(rows: Floats, alpha: Floats, c: float, b: Floats, a: float, /) -> float: ...
def folded_sums(A: Floats, b: Floats, rows: Floats, first: int, last: int, Y: Floats, /) -> None: ...
def folded_scores(a: float, gamma: float, rows: Floats, Y: Floats, scores: Floats, /) -> None: ...
def score_supports(
    base: Floats, folded: int, G: Floats, order: Ints, alpha: Floats, count: int, scores: Floats, /
) -> None: ...
def play_supports(
    base: Floats,
    folded: int,
    until: int,
    G: Floats,
    block: int,
    labels: Floats,
    weights: Floats,
    order: Ints,
    alpha: Floats,
    counts: Ints,
    limit: int,
    forget: int,
    draws: Floats,
    record: Record,
    scores: Floats,
    /,
) -> int: ...
def kernel_sums(
    kind: int,
    op: int,
    coef0: float,
    gamma: float,
    degree: int,
    rows: NativeRows,
    to: Ints,
    which: Ints,
    coefficients: Floats,
    before: bool,
    out: Floats,
    /,
) -> None: ...
def given_sums(G: Floats, to: Ints, which: Ints, coefficients: Floats, before: bool, out: Floats, /) -> None: ...
def kernel_squares(
    kind: int, op: int, coef0: float, gamma: float, degree: int, rows: NativeRows, out: Floats, /
) -> None: ...

# matrices
def play_matrix(
    rows: NativeRows,
    labels: Floats,
    weights: Floats,
    A: Floats,
    B: Floats,
    b: Floats,
    u: Floats,
    q: Floats,
    n: int,
    record: Record,
    scores: Floats,
    /,
) -> int: ...
def play_markov(
    rows: NativeRows, labels: Floats, weights: Floats, counts: Floats, context: Ints, record: Record, scores: Floats, /
) -> int: ...
def score_markov(counts: Floats, context: Ints, scores: Floats, /) -> None: ...
def play_newton(
    rows: NativeRows,
    labels: Floats,
    weights: Floats,
    S: Floats,
    theta: Floats,
    total: Floats,
    f: Floats,
    n: int,
    ridge: float,
    walk: float,
    two_label: bool,
    record: Record,
    scores: Floats,
    /,
) -> int: ...
def score_newton(
    rows: NativeRows, shift: bool, S: Floats, theta: Floats, n: int, two_label: bool, f: Floats, scores: Floats, /
) -> None: ...
def score_matrix(
    rows: NativeRows, shift: bool, B: Floats, u: Floats, n: int, record: Record, q: Floats, scores: Floats, /
) -> None: ...
def play_words(
    rows: NativeRows,
    labels: Floats,
    weights: Floats,
    counts: Floats,
    all: Floats,
    platt: Floats,
    smoothing: float,
    tempered: bool,
    record: Record,
    total: Floats,
    scores: Floats,
    /,
) -> int: ...
def score_words(
    rows: NativeRows, counts: Floats, all: Floats, platt: Floats, smoothing: float, tempered: bool, scores: Floats, /
) -> None: ...
def play_nearest(
    rows: NativeRows,
    labels: Floats,
    weights: Floats,
    tiles: Floats,
    votes: Floats,
    learned: Ints,
    row: Floats,
    near: Floats,
    neighbours: int,
    record: Record,
    total: Floats,
    scores: Floats,
    /,
) -> int: ...
def score_nearest(
    rows: NativeRows,
    tiles: Floats,
    votes: Floats,
    learned: Ints,
    row: Floats,
    near: Floats,
    neighbours: int,
    scores: Floats,
    /,
) -> None: ...
def play_nearest_numbers(
    rows: NativeRows,
    labels: Floats,
    weights: Floats,
    tiles: Floats,
    numbers: Floats,
    votes: Floats,
    learned: Ints,
    row: Floats,
    near: Floats,
    neighbours: int,
    record: Record,
    total: Floats,
    scores: Floats,
    /,
) -> int: ...
def score_nearest_numbers(
    rows: NativeRows,
    tiles: Floats,
    numbers: Floats,
    votes: Floats,
    learned: Ints,
    row: Floats,
    near: Floats,
    neighbours: int,
    scores: Floats,
    /,
) -> None: ...
def play_persistence(
    rule: int, rows: NativeRows, labels: Floats, weights: Floats, memory: Floats, record: Record, scores: Floats, /
) -> int: ...
def cover_numbers(
    said: Floats,
    labels: Floats,
    weights: Floats,
    numbers: Floats,
    counts: Ints,
    first: Floats,
    sizes: Ints,
    thresholds: Floats,
    /,
) -> None: ...
def cover_two(
    odds: Floats,
    labels: Floats,
    weights: Floats,
    numbers: Floats,
    counts: Ints,
    first: Floats,
    sizes: Ints,
    thresholds: Floats,
    /,
) -> None: ...
def cover_late_number(
    said: float, y: float, numbers: Floats, counts: Ints, first: Floats, sizes: Ints, q: float, since: int, /
) -> None: ...
def cover_late_two(
    odds: float, y: float, numbers: Floats, counts: Ints, first: Floats, sizes: Ints, q: float, since: int, /
) -> None: ...
def cover_classes(
    others: Floats, y: int, numbers: Floats, counts: Ints, first: Floats, sizes: Ints, q: float, since: int, /
) -> None: ...
def threshold(numbers: Floats, counts: Ints, /) -> float: ...
def judge_odds(odds: Floats, labels: Floats, loss: Floats, bins: Ints, /) -> None: ...
def calibrate(scores: Floats, labels: Floats, weights: Floats, platt: Floats, out: Floats, /) -> None: ...
def apply_platt(scores: Floats, platt: Floats, out: Floats, /) -> None: ...
def calibrate_temperature(
    scores: Floats, labels: Floats, weights: Floats, temperature: Floats, out: Floats, /
) -> None: ...
def apply_temperature(scores: Floats, temperature: Floats, out: Floats, /) -> None: ...
def watch(losses: Floats, level: float, threshold: float, alarm: Floats, /) -> int: ...
def follow_most_frequent(classes: Ints, counts: Ints, leader: Ints, wrong: Floats, /) -> None: ...
def follow_mean(labels: Floats, first: float, kept: Floats, means: Floats, /) -> None: ...
def follow_matrix(
    rows: NativeRows,
    y: Floats,
    weights: Floats,
    chosen: Ints,
    a: float,
    A: Floats,
    B: Floats,
    b: Floats,
    u: Floats,
    q: Floats,
    n: int,
    out: Floats,
    /,
) -> None: ...

# sums in twice the precision
LEDGER_NUMBERS: int

def enter_scores(loss: Loss, z: Floats, y: Floats, weights: Floats, sums: Floats, taken: Floats, /) -> None: ...
def enter_rows(rows: NativeRows, taken: Floats, bias: bool, sums: Floats, G: Floats, /) -> None: ...
def enter_columns(columns: list[Floats], taken: Floats, squares: Floats, G: Floats, /) -> None: ...
def enter_norms(taken: Floats, squares: Floats, sums: Floats, /) -> bool: ...
def exact_dots(rows: NativeRows, u: Floats, out: Floats, /) -> None: ...
def exact_squares(rows: NativeRows, out: Floats, /) -> None: ...
def exact_combination(rows: NativeRows, alpha: Floats, total: Floats, /) -> None: ...
def exact_steps(rows: NativeRows, step: Floats, total: Floats, out: Floats, /) -> None: ...
def exact_updates(rows: NativeRows, y: Floats, chosen: Ints, total: Floats, out: Floats, /) -> None: ...
def exact_class_updates(
    rows: NativeRows, moves: Ints, step: int, classes: int, total: Floats, out: Floats, /
) -> None: ...

# looking back at a run
def scores_of(rows: NativeRows, u: Floats, out: Floats, /) -> None: ...
def sum_rows(rows: NativeRows, a: Floats, total: Floats, /) -> None: ...
def add_curvature(rows: NativeRows, w: Floats, scale: float, H: Floats, /) -> None: ...
def square_norms(rows: NativeRows, scale: float, out: Floats, /) -> None: ...
def bent_slopes(
    z: Floats, kink: Floats, lo: Floats, hi: Floats, width: float, flat: float, alpha: Floats, /
) -> None: ...
def bent_total(
    z: Floats, kink: Floats, lo: Floats, hi: Floats, width: float, flat: float, weights: Floats, /
) -> float: ...
def bent_along(
    z: Floats,
    step: Floats,
    tau: float,
    kink: Floats,
    lo: Floats,
    hi: Floats,
    width: float,
    flat: float,
    weights: Floats,
    /,
) -> float: ...
def bent_epoch(
    rows: NativeRows,
    order: Ints,
    norms: Floats,
    kink: Floats,
    lo: Floats,
    hi: Floats,
    width: float,
    flat: float,
    weights: Floats,
    ridge: float,
    alpha: Floats,
    w: Floats,
    /,
) -> float: ...
def logistic_epoch(
    rows: NativeRows,
    order: Ints,
    norms: Floats,
    y: Floats,
    weights: Floats,
    ridge: float,
    alpha: Floats,
    w: Floats,
    /,
) -> float: ...
def replay_path(
    rows: NativeRows,
    slopes: Floats,
    etas: Floats,
    growth: Floats,
    radius: float,
    w: Floats,
    drift: Floats,
    sizes: Floats,
    /,
) -> None: ...
def votes_on(
    rows: NativeRows,
    log: NativeRows,
    steps: Floats,
    survived: Floats,
    bias: float,
    tie: float,
    line: Floats,
    out: Floats,
    /,
) -> None: ...

# many classes
def play_classes(
    rows: NativeRows,
    labels: Floats,
    weights: Floats,
    one_vs_rest: bool,
    z: Floats,
    biases: Floats,
    record: Record,
    clock: Ints,
    counts: Ints,
    moved: Ints,
    confusion: Ints,
    s: Floats,
    scores: Floats,
    moves: NDArray[np.int8],
    /,
) -> int: ...
def score_classes(rows: NativeRows, z: Floats, biases: Floats, bias: float, known: int, out: Floats, /) -> None: ...

# forecasts of a probability for every class
def play_softmax(
    rows: NativeRows,
    labels: Floats,
    weights: Floats,
    z: Floats,
    biases: Floats,
    squares: Floats,
    bias_squares: Floats,
    eta: float,
    record: Record,
    clock: Ints,
    counts: Ints,
    confusion: Ints,
    buffers: Floats,
    scores: Floats,
    forecasts: Floats,
    /,
) -> int: ...
def play_softmax_newton(
    rows: NativeRows,
    labels: Floats,
    weights: Floats,
    z: Floats,
    biases: Floats,
    A: Floats,
    B: Floats,
    q: Floats,
    n: int,
    ridge: float,
    raw: Floats,
    heat: Floats,
    updates: Ints,
    record: Record,
    clock: Ints,
    counts: Ints,
    confusion: Ints,
    buffers: Floats,
    scores: Floats,
    forecasts: Floats,
    /,
) -> int: ...
def play_nearest_classes(
    rows: NativeRows,
    labels: Floats,
    weights: Floats,
    tiles: Floats,
    classes: Floats,
    votes: Floats,
    learned: Ints,
    row: Floats,
    near: Floats,
    neighbours: int,
    smoothing: float,
    record: Record,
    clock: Ints,
    counts: Ints,
    confusion: Ints,
    buffers: Floats,
    scores: Floats,
    forecasts: Floats,
    /,
) -> int: ...
def score_nearest_classes(
    rows: NativeRows,
    tiles: Floats,
    classes: Floats,
    votes: Floats,
    learned: Ints,
    row: Floats,
    near: Floats,
    neighbours: int,
    smoothing: float,
    out: Floats,
    /,
) -> None: ...
def play_succession(
    rows: NativeRows,
    labels: Floats,
    weights: Floats,
    seen: Floats,
    last: Ints,
    follows: bool,
    record: Record,
    clock: Ints,
    counts: Ints,
    confusion: Ints,
    buffers: Floats,
    scores: Floats,
    forecasts: Floats,
    /,
) -> int: ...

# experts
RULE_CONSTANT: int
RULE_ANYTIME: int
RULE_DOUBLING: int
RULE_ADAPTIVE: int
RULE_SHARING: int
RULE_GRADIENT: int
EXPERT_LOSSES: dict[str, int]

def play_experts(
    rule: int,
    rate: float,
    share: float,
    least: float,
    loss: int,
    classes: int,
    held: tuple[NDArray[Any], ...],
    given: Floats,
    outcomes: Floats,
    kept: Floats,
    forecasts: Floats,
    losses: Floats,
    gaps: Floats,
    /,
) -> int: ...
def expert_weights(
    rule: int, rate: float, held: tuple[NDArray[Any], ...], awake: NDArray[np.bool_], q: Floats, /
) -> None: ...
def expert_forecast(
    rule: int, rate: float, loss: int, classes: int, held: tuple[NDArray[Any], ...], given: Floats, out: Floats, /
) -> None: ...
def best_path(costs: Floats, now: Floats, before: Floats, came: Ints, moved: NDArray[np.uint8], /) -> None: ...

# finite classes
TREE_NO: int
TREE_YES: int
TREE_OPEN: int

def sauer(columns: int, d: int, /) -> int: ...
def tree_at_once(size: int, columns: int, d: int, /) -> bool: ...

class TreeMemory:
    def __init__(self, spaces: int, words: int, /) -> None: ...

class TreeSearch:
    def __init__(self, words: NDArray[np.uint64], size: int, /) -> None: ...
    def turn_to(self, memory: TreeMemory, rows: NDArray[np.uint64], /) -> None: ...
    def advance(self, memory: TreeMemory, d: int, work: int, /) -> int: ...
    def grow(self, memory: TreeMemory, depth: int, tree: Ints, /) -> bool: ...
    @property
    def nodes(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def columns(self) -> int: ...

class SetSearch:
    def __init__(self, bits: NDArray[np.uint64], columns: int, least: int, most: int, /) -> None: ...
    def advance(self, work: int, /) -> bool: ...
    def at_most(self, limit: int, /) -> None: ...
    @property
    def best(self) -> list[int]: ...
    @property
    def nodes(self) -> int: ...

# text: parsers, hashes, what is made of hashed entries, rows made ready

SLACK: int
IGNORED: int
NUMBER: int
HASHED: int
LABEL: int

def count_bytes(data: Bytes, start: int, stop: int, other: int) -> tuple[int, int, int, int]: ...
def parse_svmlight(
    data: Bytes,
    stop: int,
    labelled: bool,
    labels: Floats,
    tokens: Places,
    lines: Places,
    bounds: Places,
    features: Features,
    values: Floats,
    room: Places,
    done: Places,
) -> bool: ...
def parse_vw(
    data: Bytes,
    stop: int,
    start: int,
    slots: int,
    noted: Bytes,
    labels: Floats,
    tokens: Places,
    weights: Floats,
    lines: Places,
    bounds: Places,
    features: Features,
    values: Floats,
    hints: Places,
    table: Places,
    done: Places,
) -> bool: ...
def parse_delimited(
    data: Bytes,
    stop: int,
    delimiter: int,
    kinds: Places,
    places: Places,
    X: Floats,
    cells: Places,
    labels: Floats,
    tokens: Places,
    lines: Places,
    done: Places,
) -> bool: ...
def records_end(data: Bytes, stop: int, delimiter: int) -> tuple[int, int]: ...
def read_numbers(data: Bytes, starts: Places, values: Floats, ends: Places) -> None: ...
def hash_strings(data: Bytes, offsets: Places, out: Features) -> None: ...
def hash_cells(head: Bytes, data: Bytes, starts: Places, stops: Places, rows: Places, out: Features) -> int: ...
def hash_words(
    head: Bytes, data: Bytes, starts: Places, stops: Places, rows: Places, out: Features, left: Places
) -> tuple[int, int]: ...
def checksum(words: NDArray[np.uint64]) -> int: ...
def entries_by_row(rows: Places, bounds: Places, order: Places) -> None: ...
def merge_rows(
    bounds: Places,
    order: Places,
    features: Features,
    values: NDArray[Any],
    keys: Places,
    room: Places,
    out_bounds: Places,
    out_features: Features,
    out_values: NDArray[Any],
) -> int: ...
def repeat_slots(
    codes: Places, bounds: Places, order: Places, slots: Features, rows: Places, out: Features
) -> None: ...
def maybe_new_slots(order: Places, first: int, slots: Features, noted: Bytes, out: Places) -> int: ...
def note_slots(slots: Features, noted: Bytes, out: Places) -> int: ...
def places_in_row(rows: Places, entries: Places, least: Places, out: Places) -> None: ...
def fill_missing(*given: Any) -> None:
    """fill_missing(X | (bounds, features, values), sums, gaps, rows, learn)."""

def copy_values(given: Any, out: Any, /) -> None: ...
def spread_row(*given: Any) -> None:
    """spread_row(bounds, features, values, X): one row as a row of a matrix."""

def put_labels(*given: Any) -> None:
    """put_labels(past, X | (bounds, features, values), label, X | (bounds, features, values), learn)."""

def scale_features(*given: Any) -> None:
    """scale_features(X | (bounds, features, values), peak, learn)."""

def standardise(X: Any, mean: Any, squares: Any, rows: Any, learn: bool, /) -> None:
    """Each column by its moments so far, in place."""

def standardise_entries(*given: Any) -> int:
    """standardise_entries(bounds, features, values, mean, squares, rows, start, slots, columns, room, alone, bounds,
    features, values, learn): the rows with all columns standardised, and how many entries they have.
    """

CROSS_SLOTS: int

def frequencies(first: int, out: Any) -> None: ...
def offsets(out: Any) -> None: ...
def fourier(*given: Any) -> None:
    """fourier(X | (bounds, features, values), table, offsets, bandwidth, seen, count, room, out, learn)."""

def bins(X: Any, edges: Any, out: Any) -> None: ...
def one_hot(bins: Any, count: int, cross: bool, place: Any, bounds: Any, features: Any, values: Any) -> int: ...
def quadratic(X: Any, out: Any) -> None: ...
def take_logs(*given: Any) -> None:
    """take_logs(X | (bounds, features, values))."""

def unit_rows(*given: Any) -> None:
    """unit_rows(X | (bounds, features, values))."""

# the mixture of a pool of members
SWITCHES: int
HISTORY_ROWS: int
MEMBER_COLUMNS: int
TOPS: int

def play_mixture(
    rows: NativeRows,
    labels: Floats,
    weights: Floats,
    said: Floats,
    members: Floats,
    tops: Floats,
    mixing: Floats,
    history: Floats,
    clock: Ints,
    total: Floats,
    record: Record,
    scores: Floats,
    /,
) -> int: ...
def score_mixture(
    said: Floats, members: Floats, tops: Floats, mixing: Floats, record: Record, scores: Floats, /
) -> None: ...
def foretell_mixture(
    said: Floats, members: Floats, tops: Floats, mixing: Floats, record: Record, scores: Floats, voices: Floats, /
) -> None: ...
def foretell_mixture_classes(
    said: Floats, members: Floats, tops: Floats, mixing: Floats, rounds: int, scores: Floats, voices: Floats, /
) -> None: ...
def mixture_shares(
    members: Floats, tops: Floats, mixing: Floats, asleep: NDArray[np.bool_], out: Floats, /
) -> None: ...

NUMBER_COLUMNS: int
RANGE_NUMBERS: int
MEANS: int

def play_aggregate(
    rows: NativeRows,
    labels: Floats,
    weights: Floats,
    said: Floats,
    members: Floats,
    range: Floats,
    history: Floats,
    clock: Ints,
    total: Floats,
    record: Record,
    scores: Floats,
    /,
) -> int: ...
def aggregate_shares(
    members: Floats, range: Floats, asleep: NDArray[np.bool_], rounds: int, out: Floats, /
) -> None: ...
def score_aggregate(said: Floats, members: Floats, range: Floats, rounds: int, scores: Floats, /) -> None: ...
def play_mixture_classes(
    rows: NativeRows,
    labels: Floats,
    weights: Floats,
    said: Floats,
    members: Floats,
    tops: Floats,
    mixing: Floats,
    history: Floats,
    beats: Ints,
    record: Record,
    clock: Ints,
    counts: Ints,
    confusion: Ints,
    buffers: Floats,
    scores: Floats,
    /,
) -> int: ...
def score_mixture_classes(
    said: Floats, members: Floats, tops: Floats, mixing: Floats, rounds: int, scores: Floats, /
) -> None: ...

LEVEL_NUMBERS: int

def relate(level: Floats, labels: Floats, weights: Floats, means: Floats, sizes: Floats, out: Floats, /) -> None: ...
