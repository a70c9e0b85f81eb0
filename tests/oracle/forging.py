"""What would be false in a receipt: each number of it by its place, and the values that it must not take."""

import copy

LOWER = ("lower", "no_comparator_below", "no_separator_below", "margin", "e_value", "largest_e_value")
UPPER = ("upper", "bound", "observed", "gap")
EXACT = ("scaled_by", "rate", "radius", "bets", "unforeseen", "switches", "confidence", "rounds", "errors", "tail")
EXACT = (*EXACT, "candidates", "mistakes", "level", "false_alarm", "rang")


def numbers(node, path=()):
    """Every number by its place; vectors come as text."""
    if isinstance(node, dict):
        for key, part in node.items():
            yield from numbers(part, (*path, key))
    elif isinstance(node, list):
        for place, part in enumerate(node):
            yield from numbers(part, (*path, place))
    elif isinstance(node, int | float) and not isinstance(node, bool):
        yield path, node


def changed(body, path, value):
    found = copy.deepcopy(body)
    node = found
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return found


def end_of(path, exact=EXACT):
    """Whether the number in that place is a lower end (-1), an upper end (1) or neither (0)."""
    key = path[-1]
    if key in LOWER:
        return -1
    value = len(path) > 1 and path[-2] == "values" and key not in exact and not str(key).startswith("updates_")
    return int(key in UPPER or value or (len(path) > 1 and path[-2] == "bounds"))


def false(path, value, exact=EXACT):
    """Numbers that would say too much in that place, by little and by much."""
    if isinstance(value, int):
        return [value + 1, value - 1]
    little = 1e-6 * abs(value) + 1e-7
    end = end_of(path, exact)
    if not end:
        return [value + little, value - little, value - 1.0]
    return [value - end * little, value - end * (1.0 + abs(value))]


def loose(path, value):
    """A number that would say less in that place, or None where there is none."""
    return value + end_of(path) * 1e-6 * (1.0 + abs(value)) if end_of(path) and isinstance(value, float) else None
