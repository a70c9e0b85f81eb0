"""`noregret tour`."""


def tour() -> None:
    """A tour."""
