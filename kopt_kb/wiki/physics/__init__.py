"""Physics rules: what must hold between the rows of one sheet. One rule a function, one code each.

Tolerances are fixed: 2 % for products of rounded values, 1 % for ratios, none for counts. No rule names a value
or a product; what deviates for a reason declares `exception RULE: VALUE, why` on its row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kopt_kb.wiki.physics import (
    caches,
    capacity,
    documents,
    formats,
    limits,
    links,
    memory,
    orders,
    peaks,
    power,
    ratios,
    technology,
)
from kopt_kb.wiki.physics.base import Facts, PhysicsFinding
from kopt_kb.wiki.sheet import RuleCheck, Sheet

__all__ = ["RULES", "judge"]

RULES: dict[str, Callable[[Facts], Iterator[PhysicsFinding]]] = {
    "PHY-RATE": peaks.rate,
    "PHY-CEILING": peaks.ceiling,
    "PHY-DOCUMENT": documents.one_clock,
    "PHY-LANES": peaks.lanes,
    "PHY-MEASURED": peaks.measured_below_peak,
    "PHY-SPARSE": ratios.sparse,
    "PHY-HALF": ratios.half_formats,
    "PHY-NARROW": ratios.narrow_formats,
    "PHY-INT": formats.integer_formats,
    "PHY-FOUR-BIT": formats.four_bit_formats,
    "PHY-SIX-BIT": formats.six_bit_formats,
    "PHY-SCALED": formats.scaled_formats,
    "PHY-DOUBLE": formats.double_precision,
    "PHY-HALF-VECTOR": formats.half_vectors,
    "PHY-ENGINE": formats.engines,
    "PHY-OPS": formats.operations_a_clock,
    "PHY-STEPS": formats.format_steps,
    "PHY-BW": memory.bandwidth,
    "PHY-VISIBLE": memory.visible_capacity,
    "PHY-DIES": memory.die_sums,
    "PHY-LINK": memory.link_totals,
    "PHY-ACHIEVED-BW": memory.measured_below_documented,
    "PHY-PATTERN": memory.patterns,
    "PHY-CAPACITY": capacity.usable_capacity,
    "PHY-WHOLE": capacity.whole_capacity,
    "PHY-STACKS": capacity.stacks,
    "PHY-PIN": capacity.pin_rate,
    "PHY-CHANNEL": capacity.channels,
    "PHY-CHIPS": capacity.chips,
    "PHY-CLOCK": orders.clock_order,
    "PHY-POWER": orders.power_order,
    "PHY-FULL": orders.full_chip,
    "PHY-SCOPE": orders.system_totals,
    "PHY-WARPS": limits.resident_warps,
    "PHY-SHARED": limits.shared_memory,
    "PHY-REGISTERS": limits.registers,
    "PHY-UNITS": limits.units_a_processor,
    "PHY-PAIR": limits.processors_in_pairs,
    "PHY-COUNT": limits.whole_numbers,
    "PHY-BLOCK": orders.block_limits,
    "PHY-GRANULE": orders.granules,
    "PHY-SECTOR": orders.sectors,
    "PHY-BANKS": orders.banks,
    "PHY-POOL": orders.l1_pool,
    "PHY-CACHE": caches.l2_size,
    "PHY-SLICE": caches.l2_slices,
    "PHY-LLC": caches.memory_side_slices,
    "PHY-OUTER": caches.outer_cache,
    "PHY-NEAR": caches.powers_of_two,
    "PHY-LINE": caches.lines,
    "PHY-GENERATION": links.link_generation,
    "PHY-EACH": links.both_beside_each,
    "PHY-HOST": links.host_slot,
    "PHY-WATTS": power.power_a_processor,
    "PHY-STEP": power.round_watts,
    "PHY-CAP": power.default_cap,
    "PHY-DIAG": power.diagnostic_target,
    "PHY-TYPE": technology.pin_rate_of_type,
    "PHY-PINS": technology.pin_steps,
    "PHY-LATENCY": caches.latencies,
    "PHY-FILL": technology.time_to_read_all,
    "PHY-ECC": technology.error_correction,
    "PHY-MHZ": technology.clock_range,
    "PHY-DIGITS": ratios.printed_digits,
    "PHY-TINY": peaks.measured_not_tiny,
    "PHY-ALIKE": peaks.measured_alike,
    "PHY-TICK": technology.clock_steps,
    "PHY-DIVISOR": orders.one_divisor,
}


def judge(sheet: Sheet) -> Iterator[RuleCheck]:
    """Yield the outcome of every rule on every row it speaks about."""
    facts = Facts(sheet)
    for name, rule in RULES.items():
        for finding in rule(facts):
            row = finding.row
            outcome = finding.outcome
            if outcome == "fail" and any(
                tag == "exception" and text.partition(":")[0] == name for tag, text in row.notes
            ):
                outcome = "excepted"
            yield RuleCheck(name, row.key, row.path, row.line, outcome, finding.detail)
