"""Whether every public tuned table is read and written byte for byte.

python benchmarks/table_forms.py FOLDER [--out benchmarks/results/table_forms.tsv]

FOLDER holds checkouts or unpacked wheels of programs that read tuned tables (vLLM, SGLang, AITER) in folders of their
names. Every file in a known form is read and written again; what differs, and what can't be read, is listed.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.doors.table import behind
from kopt_kb.doors.table_form import TableForm


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    forms: list[TableForm] = [form for _, form in behind("table_forms")]
    counted: Counter[tuple[str, str, str]] = Counter()
    rows: Counter[tuple[str, str]] = Counter()
    begin = time.perf_counter()
    for path in sorted(one for one in args.folder.rglob("*") if one.is_file()):
        data = path.read_bytes()
        form = next((one for one in forms if one.recognises(path.name, data[:4096])), None)
        if form is None:
            continue
        program = path.relative_to(args.folder).parts[0]
        try:
            table = form.read(data, path)
        except BadInput as error:
            counted[program, form.name, "refused"] += 1
            print(error)
            continue
        same = form.write(table) == data
        counted[program, form.name, "the same bytes" if same else "other bytes"] += 1
        rows[program, form.name] += len(table.rows)
        if not same:
            print(f"{path}: other bytes")
    lines = ["program\tform\toutcome\tfiles\trows"]
    lines += [f"{p}\t{f}\t{o}\t{n}\t{rows[p, f]}" for (p, f, o), n in sorted(counted.items())]
    print("\n".join(lines), f"\n{time.perf_counter() - begin:.1f} s")
    if args.out:
        args.out.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
