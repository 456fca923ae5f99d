"""Program run in a short-lived child: stall samples by instruction of some actions of an `.ncu-rep`, as JSON lines.

It stands alone (standard library and `ncu_report`). Of a source file the bare name leaves it, never the folder.
"""

from __future__ import annotations

import json
import sys
from typing import Any, TextIO

__all__ = ["main"]

_STALLED = "smsp__pcsamp_warps_issue_stalled_"
_NOT_ISSUED = "_not_issued"
_EXECUTED = "inst_executed"
_MISSING_EXIT = 3


def main(path: str, start: int, stop: int, out: TextIO) -> int:
    """Write one line for each of actions `start` to `stop` that has samples, then a line that says so.

    Returns:
        The exit status.
    """
    try:
        import ncu_report
    except ImportError:
        return _MISSING_EXIT
    context = ncu_report.load_report(path)
    number = 0
    for range_index in range(context.num_ranges()):
        one_range = context.range_by_idx(range_index)
        for index in range(one_range.num_actions()):
            if start <= number < stop:
                code = _code(one_range.action_by_idx(index))
                if code:
                    out.write(json.dumps({"id": f"{range_index}/{index}", "code": code}) + "\n")
            number += 1
    out.write(json.dumps({"end": number}) + "\n")
    return 0


def _code(action: Any) -> list[list[Any]]:
    names = [one for one in action.metric_names() if one.startswith(_STALLED) and not one.endswith(_NOT_ISSUED)]
    samples: dict[int, dict[str, int]] = {}
    for name in names:
        for address, count in _instances(action.metric_by_name(name)):
            if count:
                samples.setdefault(address, {})[name.removeprefix(_STALLED)] = int(count)
    executed = dict(_instances(action.metric_by_name(_EXECUTED)))
    code = []
    for address in sorted({*samples, *executed}) if samples else ():
        info = action.source_info(address)
        file = "" if info is None else info.file_name().replace("\\", "/").rpartition("/")[2]
        place = [file, 0 if info is None else info.line()]
        code.append(
            [address, action.sass_by_pc(address), *place, int(executed.get(address, 0)), samples.get(address, {})]
        )
    return code


def _instances(metric: Any) -> list[tuple[int, float]]:
    if metric is None or not metric.has_correlation_ids():
        return []
    ids = metric.correlation_ids()
    return [(ids.as_uint64(one), metric.as_double(one)) for one in range(metric.num_instances())]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.stdout))
