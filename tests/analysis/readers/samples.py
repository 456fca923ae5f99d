"""Small ncu pages, written by hand after the shapes that real ones have."""

from __future__ import annotations

IDENTITY = ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream")
SHAPE = ("Block Size", "Grid Size", "Device", "CC")
LONG = ("Section Name", "Metric Name", "Metric Unit", "Metric Value")
RULE = ("Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type", "Estimated Speedup")
LIVE = "Command line profiler metrics"


def quoted(cells):
    return ",".join('"' + str(cell).replace('"', '""') + '"' for cell in cells)


def row(launch, section, name, unit, value, *, kernel="scale(float *, int)", grid=64, pid=77, rule=()):
    identity = (launch, pid, "app", "127.0.0.1", kernel, 1, 7, "(256, 1, 1)", f"({grid}, 1, 1)", 0, "9.0")
    return quoted((*identity, section, name, unit, value, *rule))


def live(*lines, before=(), header=None):
    top = quoted((*IDENTITY, *SHAPE, *LONG)) if header is None else header
    return "\n".join([*before, top, *lines]) + "\n"


def two_launches():
    return live(
        row(0, LIVE, "gpu__time_duration.sum", "nsecond", "1500"),
        row(0, LIVE, "dram__bytes_read.sum", "Kbyte", "2.50"),
        row(1, LIVE, "gpu__time_duration.sum", "nsecond", "2500"),
        row(1, LIVE, "dram__bytes_read.sum", "Kbyte", "3.50"),
    )


def raw(rows, metrics, units, header_extra=()):
    names = (*IDENTITY, *SHAPE, *header_extra, *metrics)
    blank = [""] * (len(names) - len(units))
    return "\n".join([quoted(names), quoted((*blank, *units)), *rows]) + "\n"


def raw_row(launch, *values, grid=64):
    return quoted((launch, 77, "app", "127.0.0.1", "scale", 1, 7, "(256, 1, 1)", f"({grid}, 1, 1)", 0, "9.0", *values))
