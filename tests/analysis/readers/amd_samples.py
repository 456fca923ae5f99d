"""Invented AMD reports for tests: tables, databases and documents in the layouts of the tools."""

from __future__ import annotations

import json
import sqlite3

COUNTER_HEAD = (
    '"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id",'
    '"Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count",'
    '"Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"'
)
TRACE_HEAD = (
    '"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id",'
    '"Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count",'
    '"Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"'
)
TRACE_HEAD_6 = (
    '"Kind","Agent_Id","Queue_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id",'
    '"Start_Timestamp","End_Timestamp","Private_Segment_Size","Group_Segment_Size","Workgroup_Size_X",'
    '"Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"'
)
AGENTS = (
    '"Node_Id","Logical_Node_Id","Agent_Type","Wave_Front_Size","Num_Xcc","Cu_Count","Gfx_Target_Version",'
    '"Max_Waves_Per_Cu","Name","Product_Name"\n'
    '0,0,"CPU",0,1,64,0,0,"EPYC","EPYC"\n'
    '4,1,"GPU",64,8,304,90402,32,"gfx942","AMD Instinct MI300X"\n'
)
GUID_A, GUID_B = "00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000b"


def counter_row(dispatch, counter, value, start=1000, end=1500, name="k(int*, int)", process=7, agent='"Agent 4"'):
    """Return a line of a counter table: 1024 work-items in groups of 256."""
    return f'{dispatch},{dispatch},{agent},1,{process},9,1024,3,"{name}",256,512,0,8,4,16,"{counter}",{value},{start},{end}'


def counter_table(*rows):
    """Return a counter table."""
    return "\n".join([COUNTER_HEAD, *rows, ""])


def trace_table(*rows):
    """Return a kernel table."""
    return "\n".join([TRACE_HEAD, *rows, ""])


def trace_row(dispatch, start, end, name="k(int*, int)"):
    """Return a line of a kernel table: 64 x 6 work-items in groups of 32 x 4."""
    return (
        f'"KERNEL_DISPATCH","Agent 4",1,1,9,{dispatch},3,"{name}",{dispatch},{start},{end},512,0,8,4,16,32,4,1,64,6,1'
    )


def write_rocpd(path, processes):
    """Write a database with one set of tables a process.

    Args:
        path: File to write.
        processes: (guid, dispatches, counters): dispatches are (id, kernel, start, end, groups), counters are
            (dispatch id, name, values of its instances).
    """
    connection = sqlite3.connect(path)
    columns = {
        "metadata": "tag, value",
        "info_agent": "id, guid, type, name, product_name, extdata",
        "info_kernel_symbol": "id, guid, kernel_name, display_name, arch_vgpr_count, accum_vgpr_count, sgpr_count",
        "kernel_dispatch": (
            "id, guid, agent_id, kernel_id, dispatch_id, start, end, private_segment_size, group_segment_size,"
            "workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, event_id"
        ),
        "info_pmc": "id, guid, name",
        "pmc_event": "id, guid, event_id, pmc_id, value",
    }
    for table, names in columns.items():
        quoted = ", ".join(f'"{one.strip()}"' for one in names.split(","))
        for guid, _, _ in processes:
            connection.execute(f'CREATE TABLE "rocpd_{table}_{guid.replace("-", "_")}" ({quoted})')
        union = " UNION ALL ".join(
            f'SELECT * FROM "rocpd_{table}_{guid.replace("-", "_")}"' for guid, _, _ in processes
        )
        connection.execute(f"CREATE VIEW rocpd_{table} AS {union}")
    connection.execute(
        "CREATE VIEW counters_collection AS SELECT P.guid, K.dispatch_id, K.kernel_id, K.agent_id, K.workgroup_size_x,"
        " K.workgroup_size_y, K.workgroup_size_z, K.grid_size_x, K.grid_size_y, K.grid_size_z,"
        " K.group_segment_size AS lds_block_size, K.private_segment_size AS scratch_size, I.name AS counter_name,"
        ' SUM(P.value) AS value, K."end" - K.start AS duration FROM rocpd_pmc_event P'
        " JOIN rocpd_info_pmc I ON I.id = P.pmc_id AND I.guid = P.guid"
        " JOIN rocpd_kernel_dispatch K ON K.event_id = P.event_id AND K.guid = P.guid"
        " GROUP BY P.guid, K.dispatch_id, I.name"
    )
    for guid, dispatches, counters in processes:
        _fill(connection, guid, dispatches, counters)
    connection.commit()
    connection.close()


def _fill(connection, guid, dispatches, counters):
    def insert(table, *values):
        marks = ",".join("?" * len(values))
        connection.execute(f'INSERT INTO "rocpd_{table}_{guid.replace("-", "_")}" VALUES ({marks})', values)

    insert("metadata", "schema_version", "3")
    agent = json.dumps({"cu_count": 304, "num_xcc": 8, "wave_front_size": 64, "max_waves_per_cu": 32})
    insert("info_agent", 0, guid, "CPU", "EPYC", "EPYC", "{}")
    insert("info_agent", 2, guid, "GPU", "gfx942", "AMD Instinct MI300X", agent)
    for number, name in enumerate(sorted({one[1] for one in dispatches}), 1):
        insert("info_kernel_symbol", number, guid, f"{name}.kd", name, 8, 4, 16)
    kernels = {name: number for number, name in enumerate(sorted({one[1] for one in dispatches}), 1)}
    for number, name, start, end, groups in dispatches:
        insert(
            "kernel_dispatch", number, guid, 2, kernels[name], number, start, end, 0, 512, 256, 1, 1, 256 * groups, 1, 1,
            100 + number,
        )  # fmt: skip
    row = 0
    for number, name, values in counters:
        for value in values:
            row += 1
            insert("info_pmc", row, guid, name)
            insert("pmc_event", row, guid, 100 + number, row, value)


def json_document(dispatches=(), counted=(), *, before=None):
    """Return a rocprofv3 JSON document of one process.

    Args:
        dispatches: (id, kernel id, start, end).
        counted: (id, kernel id, start, end, ((counter id, value), ...)).
        before: Further sections in front.
    """

    def info(number, kernel):
        return {
            "agent_id": {"handle": 77},
            "kernel_id": kernel,
            "dispatch_id": number,
            "private_segment_size": 0,
            "group_segment_size": 512,
            "workgroup_size": {"x": 256, "y": 1, "z": 1},
            "grid_size": {"x": 1000, "y": 1, "z": 1},
        }

    process = {
        "metadata": {"pid": 7},
        **(before or {}),
        "agents": [
            {"id": {"handle": 1}, "type": 1, "name": "EPYC"},
            {"id": {"handle": 77}, "type": 2, "gfx_target_version": 90500, "cu_count": 256, "num_xcc": 8,
             "wave_front_size": 64, "product_name": "AMD Instinct MI350X", "name": "gfx950"},
        ],
        "counters": [{"id": {"handle": 5}, "name": "SQ_WAVES"}],
        "kernel_symbols": [
            {"kernel_id": 0, "formatted_kernel_name": 0, "kernel_name": 0},
            {"kernel_id": 3, "formatted_kernel_name": "k(int)", "arch_vgpr_count": 8},
        ],
        "callback_records": {
            "counter_collection": [
                {"dispatch_data": {"dispatch_info": info(number, kernel), "start_timestamp": start, "end_timestamp": end},
                 "records": [{"counter_id": {"handle": one}, "value": value} for one, value in values]}
                for number, kernel, start, end, values in counted
            ]
        },
        "buffer_records": {
            "hip_api": [{"size": 1}, {"size": 2}],
            "kernel_dispatch": [
                {"dispatch_info": info(number, kernel), "start_timestamp": start, "end_timestamp": end}
                for number, kernel, start, end in dispatches
            ],
        },
    }  # fmt: skip
    return json.dumps({"rocprofiler-sdk-tool": [process]})
