"""Times the AMD readers on large reports that it writes into a temporary folder.

Run: python benchmarks/profile_amd.py [--dispatches 1000000] [--csv-bytes 1000000000] [--counters 4] [--keep DIR]

Prints one line a reader: processor seconds from file to profiles in a fresh process, the rate, and the peak memory of
that process. The counter table is read, and, for comparison, goes through the csv module alone; so do a kernel trace of
a tenth of the size and one in which every kernel has a name of its own.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

GUID = "00000000-0000-0000-0000-000000000001"
TABLES = {
    "metadata": "tag, value",
    "info_agent": "id INTEGER PRIMARY KEY, guid, type, name, product_name, extdata",
    "info_kernel_symbol": (
        "id INTEGER PRIMARY KEY, guid, kernel_name, display_name, arch_vgpr_count, accum_vgpr_count, sgpr_count"
    ),
    "kernel_dispatch": (
        'id INTEGER PRIMARY KEY, guid, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, "start",'
        ' "end", private_segment_size, group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z,'
        " grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id, extdata"
    ),
}
COLUMNS = (
    "Correlation_Id", "Dispatch_Id", "Agent_Id", "Queue_Id", "Process_Id", "Thread_Id", "Grid_Size", "Kernel_Id",
    "Kernel_Name", "Workgroup_Size", "LDS_Block_Size", "Scratch_Size", "VGPR_Count", "Accum_VGPR_Count", "SGPR_Count",
    "Counter_Name", "Counter_Value", "Start_Timestamp", "End_Timestamp",
)  # fmt: skip
TRACE_COLUMNS = (
    "Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", "Kernel_Name",
    "Correlation_Id", "Start_Timestamp", "End_Timestamp", "LDS_Block_Size", "Scratch_Size", "VGPR_Count",
    "Accum_VGPR_Count", "SGPR_Count", "Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z", "Grid_Size_X",
    "Grid_Size_Y", "Grid_Size_Z",
)  # fmt: skip
COUNTERS = ("SQ_WAVES", "SQ_INSTS_VALU", "TCC_HIT_sum", "TCC_MISS_sum", "GRBM_GUI_ACTIVE", "SQ_BUSY_CU_CYCLES")
KERNELS = [f"void app::kernel_{n}<float, {n}, std::array<char*, 2ul> >(int, float*, float const*)" for n in range(30)]
CHILD = """
import json, resource, sys, time
from pathlib import Path
way, path = sys.argv[1:]
start = time.process_time()
if way == "csv module":
    import csv
    with open(path, newline="") as stream:
        count = sum(1 for _ in csv.reader(stream))
else:
    from kopt_kb.analysis.readers import read_profiles
    count = sum(one.launch_count for one in read_profiles(path))
took = time.process_time() - start
print(json.dumps([took, count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024]))
"""


def write_rocpd(path: Path, dispatches: int) -> None:
    """Write a database with the columns and views of rocpd that hold dispatches."""
    rng = random.Random(1)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = OFF")
    suffix = GUID.replace("-", "_")
    for name, columns in TABLES.items():
        connection.execute(f"CREATE TABLE rocpd_{name}_{suffix} ({columns})")
        connection.execute(f"CREATE VIEW rocpd_{name} AS SELECT * FROM rocpd_{name}_{suffix}")
    agents = [(n, GUID, "GPU", "gfx942", "AMD Instinct MI300X", json.dumps({"cu_count": 304})) for n in range(8)]
    connection.executemany(f"INSERT INTO rocpd_info_agent_{suffix} VALUES (?, ?, ?, ?, ?, ?)", agents)
    symbols = [(n, GUID, f"{name}.kd", name, 32, 0, 48) for n, name in enumerate(KERNELS)]
    connection.executemany(f"INSERT INTO rocpd_info_kernel_symbol_{suffix} VALUES (?, ?, ?, ?, ?, ?, ?)", symbols)

    def rows():
        start = 10**15
        for n in range(dispatches):
            span = rng.randrange(100, 5000) * 10
            shape = (256, 1, 1, 256 * rng.choice((64, 304, 1024)), 1, 1)
            yield (
                n,
                GUID,
                1,
                1,
                1,
                n % 8,
                rng.randrange(len(KERNELS)),
                n,
                1,
                1,
                start,
                start + span,
                0,
                1024,
                *shape,
                0,
                n,
                "{}",
            )
            start += span + 500

    marks = ",".join("?" * 23)
    connection.executemany(f"INSERT INTO rocpd_kernel_dispatch_{suffix} VALUES ({marks})", rows())
    connection.commit()
    connection.close()


def write_counters(path: Path, size: int, counters: int) -> None:
    """Write a counter table of at least `size` bytes."""
    rng = random.Random(2)
    written, number, start = 0, 0, 10**14
    with path.open("w") as stream:
        stream.write(",".join(f'"{one}"' for one in COLUMNS) + "\n")
        while written < size:
            number += 1
            kernel, span = rng.randrange(len(KERNELS)), rng.randrange(100, 5000) * 10
            head = (
                f'{number},{number},"Agent 2",1,77,77,{256 << kernel % 4},{kernel},"{KERNELS[kernel]}",256,0,0,32,0,48'
            )
            tail = f"{start},{start + span}\n"
            text = "".join(f'{head},"{one}",{rng.randrange(10**6)}.000000,{tail}' for one in COUNTERS[:counters])
            written += stream.write(text)
            start += span + 100


def write_trace(path: Path, size: int, names: int | None) -> None:
    """Write a kernel table of at least `size` bytes, of some kernels or (None) of one for each row."""
    rng = random.Random(3)
    written, number, start = 0, 0, 10**14
    with path.open("w") as stream:
        stream.write(",".join(f'"{one}"' for one in TRACE_COLUMNS) + "\n")
        while written < size:
            number += 1
            kernel, span = number if names is None else rng.randrange(names), rng.randrange(100, 5000) * 10
            title = f"void app::kernel_{kernel}<float, 64>(int*, float)"
            head = f'"KERNEL_DISPATCH","Agent 2",1,1,77,{number},{kernel},"{title}"'
            grid = 256 << kernel % 4
            written += stream.write(f"{head},{number},{start},{start + span},512,0,32,0,48,256,1,1,{grid},1,1\n")
            start += span + 100


def measure(way: str, path: Path) -> None:
    """Print what reading a report costs in a fresh process."""
    done = subprocess.run([sys.executable, "-c", CHILD, way, str(path)], capture_output=True, text=True, check=True)
    took_s, count, peak_bytes = json.loads(done.stdout)
    size = path.stat().st_size
    print(
        f"{path.name:14} {way:11} {took_s:7.2f} s {size / took_s / 1e6:6.0f} MB/s {peak_bytes / 1e6:5.0f} MB  {count}"
    )


def main() -> None:
    """Write the reports and measure the readers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dispatches", type=int, default=1_000_000)
    parser.add_argument("--csv-bytes", type=int, default=1_000_000_000)
    parser.add_argument("--counters", type=int, default=4)
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        database, table = folder / "rocpd.db", folder / "counters.csv"
        write_rocpd(database, arguments.dispatches)
        measure("aggregated", database)
        write_counters(table, arguments.csv_bytes, arguments.counters)
        for way in ("row by row", "csv module"):
            measure(way, table)
        for name, names in (("trace.csv", len(KERNELS)), ("distinct.csv", None)):
            write_trace(folder / name, arguments.csv_bytes // 10, names)
            for way in ("row by row", "csv module"):
                measure(way, folder / name)


if __name__ == "__main__":
    main()
