"""Factor lengths of transforms, and find lengths that are fast to transform."""

from __future__ import annotations

from functools import lru_cache

SHORT = 32
"""Largest factor of a transform that is not prime, in points of one matrix product."""

LARGEST_PRIME = 127
"""Largest prime factor of one matrix product; larger primes use chirps."""

SMALL_PRIMES = (2, 3, 5)
"""Factors of the lengths in which convolutions are computed."""


@lru_cache(maxsize=1024)
def primes_of(length: int) -> tuple[int, ...]:
    """Return the prime factors of a length, the smallest first.

    >>> primes_of(360), primes_of(1)
    ((2, 2, 2, 3, 3, 5), ())
    """
    found = []
    prime = 2
    while prime * prime <= length:
        while length % prime == 0:
            found.append(prime)
            length //= prime
        prime += 1
    return (*found, length) if length > 1 else tuple(found)


@lru_cache(maxsize=1024)
def factors_of(length: int) -> tuple[int, ...] | None:
    """Return the factors of a length, one matrix product each; None for large primes.

    Their sum is small, since the cost is proportional to it.

    >>> factors_of(1024), factors_of(97), factors_of(10007)
    ((32, 32), (97,), None)
    """
    primes = primes_of(length)
    if primes and primes[-1] > LARGEST_PRIME:
        return None
    whole = [prime for prime in primes if prime > SHORT]
    small = [prime for prime in primes if prime <= SHORT]
    return (*whole, *_grouped(small))


def _grouped(primes: list[int]) -> tuple[int, ...]:
    """Return the fewest products of primes up to `SHORT`, of about equal size."""
    total = 1
    for prime in primes:
        total *= prime
    count = 0
    while SHORT**count < total:
        count += 1
    while True:
        groups = [1] * count
        for prime in reversed(primes):
            least = min(range(count), key=groups.__getitem__)
            groups[least] *= prime
        if all(group <= SHORT for group in groups):
            return tuple(sorted(groups, reverse=True))
        count += 1


@lru_cache(maxsize=1024)
def quick_length(least: int) -> int:
    """Return the fastest length of at least `least` with small prime factors.

    >>> quick_length(20013)
    21600
    """
    lengths = []
    power = 1
    while power < 2 * least:
        for threes in (1, 3, 9, 27):
            for fives in (1, 5, 25, 125):
                length = power * threes * fives
                if least <= length <= least + least // 4 + 1:
                    lengths.append(length)
        power *= 2
    return min(lengths, key=_cost)


def _cost(length: int) -> int:
    return length * sum(factors_of(length) or ())
