"""Machines of a journal held against the wiki: products, clocks, and the forms that drivers print."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kopt_kb.launch.candidate.machine import HOST
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.wiki.devices import product_of
from kopt_kb.wiki.registry import Platform, Registry
from kopt_kb.workspace.audit.findings import AuditFinding
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.setup_events import BenchStarted, EnvironmentRecorded
from kopt_kb.workspace.rounds import SIMULATOR

__all__ = ["machine_findings"]

_FIX = "measure on the machine that is meant; this one is none that the wiki knows"
_UUID = re.compile(r"(?:(?:GPU|MIG)-)?[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}|(?:0x)?[0-9a-f]{16}", re.IGNORECASE)
"""What NVIDIA's and AMD's drivers give as the identity of a device."""

_DRIVER = re.compile(r"\d{1,4}(?:\.\d{1,9}){1,3}(?:[-+~.][\w.+~-]{1,60})?")
"""Version of a driver, or of the interface that it offers: 580.159.04, 13.0, 6.8.0-45-generic."""

_CLOCK = re.compile(r"(\d{1,5})(?:\.\d+)? MHz")
_ABOVE = 1.02
"""What a clock may exceed its row by: rows are rounded."""


def machine_findings(events: tuple[Event, ...], platform: Platform, registry: Registry) -> Iterator[AuditFinding]:
    """Yield a finding for each recorded machine that can't be: product, clocks, driver or identity.

    A device that no page knows, and that says so, is none: nothing is judged by its records.
    """
    for event in events:
        data = event.data
        machine = data.machine if isinstance(data, BenchStarted) else data
        if not isinstance(machine, EnvironmentRecorded):
            continue
        if machine.device == SIMULATOR or machine.device.startswith(HOST):
            continue
        for wrong in _wrong(machine, platform, registry):
            yield AuditFinding("machine", "journal.jsonl", event.seq, f"{machine.device}: {wrong}", _FIX)


def _wrong(machine: EnvironmentRecorded, platform: Platform, registry: Registry) -> Iterator[str]:
    product = product_of(registry, machine.device)
    if machine.product is None and not product:
        yield "no page of the wiki has this name"
    elif machine.product and product != machine.product:
        yield f"is recorded as {machine.product}, the wiki says {product or 'no product'}"
    if machine.uuid is not None and not _is_identity(machine.uuid):
        yield f"has the identity {machine.uuid!r}, which no driver gives"
    if machine.driver is not None and not _DRIVER.fullmatch(machine.driver):
        yield f"has the driver {machine.driver!r}, which is no version"
    if product == platform.id:
        yield from _too_fast(machine.clocks, platform)


def _is_identity(text: str) -> bool:
    digits = re.sub(r"[^0-9a-f]", "", text.removeprefix("GPU-").casefold())
    return _UUID.fullmatch(text) is not None and len(set(digits)) > 1


def _too_fast(clocks: Mapping[str, object], platform: Platform) -> Iterator[str]:
    """Yield a clock that is above the highest that the product's page has."""
    rows = [platform.quantity(row) for row in platform.rows("sm_clock")]
    highest = max((one.si for one in rows if isinstance(one, Quantity)), default=None)
    for name in ("clocks.max.sm", "clocks.sm"):
        said = clocks.get(name)
        match = _CLOCK.fullmatch(said) if isinstance(said, str) else None
        if highest is not None and match is not None and int(match[1]) * 10**6 > _ABOVE * float(highest):
            yield f"{name} is {said}, above the {float(highest) / 1e6:g} MHz of its page"
