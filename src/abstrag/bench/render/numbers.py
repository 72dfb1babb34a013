"""How figures are printed, the same in every format."""

from __future__ import annotations

from abstrag.bench.stats import RESAMPLES, BootstrapInterval, PairedDifference


def scaled(value: float, scale: float) -> str:
    """Print a value: one decimal for percentages, more where numbers may be small."""
    number = value * scale
    return f"{number:.1f}" if scale == 100 or abs(number) >= 100 else f"{number:.2f}"


def with_range(interval: BootstrapInterval, scale: float) -> str:
    """Print a mean with its interval."""
    low, high = scaled(interval.low, scale), scaled(interval.high, scale)
    return f"{scaled(interval.mean, scale)} [{low}, {high}]"


def signed(difference: PairedDifference, scale: float) -> str:
    """Print a difference with its sign and interval."""
    parts = (difference.mean, difference.low, difference.high)
    mean, low, high = (f"{'+' if part >= 0 else '−'}{scaled(abs(part), scale)}" for part in parts)
    return f"{mean} [{low}, {high}]"


def p_value(p: float) -> str:
    """Print a p-value; what the number of resamples cannot tell apart from 0 says so."""
    least = 2 / (RESAMPLES + 1)
    return f"< {least:.4f}" if p <= least * 1.01 else f"{p:.4f}"
