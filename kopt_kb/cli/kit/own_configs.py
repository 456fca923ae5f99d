"""The verdicts on a kernel's own configurations as a table for people."""

from __future__ import annotations

from kopt_kb.cli.kit.columns import legend
from kopt_kb.cli.kit.output import table
from kopt_kb.launch.counts.own_configs import OwnConfig, OwnConfigs, TunedValues
from kopt_kb.quantity.readable import rounded

__all__ = ["render_configs"]

_HEAD = ("N", "configuration", "registers", "spills", "shared", "occupancy", "verdict")


def render_configs(configs: OwnConfigs) -> str:
    """Return a line a configuration: what it uses and how much of it fits, or the limit that forbids it."""
    where = configs.platform or f"{configs.target} (no limits applied: give --platform)"
    lines = [f"{configs.kept} of {configs.total} configurations kept for {where}"]
    lines += [table([_HEAD, *map(_row, configs.configurations)], indent=2, right=(0, 2, 3, 4, 5)), f"  {legend(_HEAD)}"]
    return "\n".join(lines)


def _row(config: OwnConfig) -> tuple[str, ...]:
    fits = "" if config.occupancy_pct is None else f"{rounded(config.occupancy_pct)} %"
    numbers = (
        "" if each is None else str(each) for each in (config.registers, config.spill_bytes, config.shared_bytes)
    )
    verdict = config.path or "kept" if config.reason is None else f"{config.reason}: {config.detail}"
    return (str(config.number), _settings(config.config), *numbers, fits, verdict)


def _settings(config: TunedValues) -> str:
    return " ".join(f"{name}={value}" for name, value in config.items())
