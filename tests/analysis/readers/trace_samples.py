"""Traces of the documented schemas with chosen times, and the recordings of the tests."""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "data" / "traces"
US = 1000


def recorded(name, folder):
    """Return the path of a recording, unpacked when it is a database."""
    path = DATA / name
    if ".sqlite" not in name:
        return path
    plain = folder / path.stem
    plain.write_bytes(gzip.decompress(path.read_bytes()))
    return plain


def work(category, start_us, length_us, name="k", *, device=0, stream=7, correlation=None, **more):
    """Return a GPU event of Kineto."""
    args = {"device": device, "stream": stream, **({} if correlation is None else {"correlation": correlation}), **more}
    return {"ph": "X", "cat": category, "name": name, "pid": device, "tid": stream, "ts": start_us, "dur": length_us,
            "args": args}  # fmt: skip


def call(start_us, length_us, correlation, name="cudaLaunchKernel"):
    """Return a call of the host."""
    return {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 1, "tid": 1, "ts": start_us, "dur": length_us,
            "args": {"correlation": correlation}}  # fmt: skip


def chrome(path, *events, **members):
    """Write a trace."""
    path.write_text(json.dumps({**members, "traceEvents": list(events)}), encoding="utf-8")
    return path


KERNEL_COLUMNS = (
    "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "demangledName", "shortName",
    "registersPerThread", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",
)  # fmt: skip


def nsys(path, kernels=(), copies=(), calls=(), gpus=(), devices=(), strings=((1, "k(int)"), (2, "k"))):
    """Write an export of Nsight Systems: rows in the order of the columns below."""
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL)")
        base.executemany("INSERT INTO StringIds VALUES (?, ?)", strings)
        tables = {
            "CUPTI_ACTIVITY_KIND_KERNEL": (KERNEL_COLUMNS, kernels),
            "CUPTI_ACTIVITY_KIND_MEMCPY": (
                ("start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes", "copyKind"), copies
            ),
            "CUPTI_ACTIVITY_KIND_RUNTIME": (("start", "end", "globalTid", "correlationId", "nameId"), calls),
            "TARGET_INFO_GPU": (("id", "name", "computeMajor", "computeMinor"), gpus),
            "TARGET_INFO_CUDA_DEVICE": (("gpuId", "cudaId", "pid"), devices),
        }  # fmt: skip
        for table, (columns, rows) in tables.items():
            if rows:
                names = ", ".join(f'"{one}"' for one in columns)
                base.execute(f"CREATE TABLE {table} ({names})")
                base.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)
    base.close()
    return path


def kernel(start, end, *, device=0, stream=7, correlation=1, pid=0, grid=(4, 1, 1), block=(128, 1, 1)):
    """Return a row of kernels; times in ns."""
    return (start, end, device, stream, correlation, pid << 24, 1, 2, 32, *grid, *block)


RPD_SCHEMA = """
CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);
CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid, tid, start, "end", apiName_id, args_id);
CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId, queueId, sequenceId, start, "end", description_id, opType_id);
CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id, op_id);
CREATE TABLE rocpd_kernelapi (api_ptr_id, stream, gridX, gridY, gridZ, workgroupX, workgroupY, workgroupZ);
CREATE TABLE rocpd_copyapi (api_ptr_id, stream, size);
"""


def rpd(path, strings, apis=(), ops=(), pairs=(), kernels=(), copies=()):
    """Write a RocmProfileData database."""
    with sqlite3.connect(path) as base:
        base.executescript(RPD_SCHEMA)
        base.executemany("INSERT INTO rocpd_string VALUES (?, ?)", strings)
        base.executemany("INSERT INTO rocpd_api VALUES (?, 1, 1, ?, ?, ?, 1)", apis)
        base.executemany("INSERT INTO rocpd_op VALUES (?, ?, ?, 0, ?, ?, ?, ?)", ops)
        base.executemany("INSERT INTO rocpd_api_ops (api_id, op_id) VALUES (?, ?)", pairs)
        base.executemany("INSERT INTO rocpd_kernelapi VALUES (?, '0x0', ?, ?, ?, ?, ?, ?)", kernels)
        base.executemany("INSERT INTO rocpd_copyapi VALUES (?, '0x0', ?)", copies)
    base.close()
    return path
