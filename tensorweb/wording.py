"""Words of messages and explanations: a count with its noun."""


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless there is one.

    >>> counted(1, "cell"), counted(10_000, "cell"), counted(2, "launch")
    ('1 cell', '10,000 cells', '2 launches')
    """
    ending = "es" if noun.endswith("ch") else "s"
    return f"{count:,} {noun}{'' if count == 1 else ending}"
