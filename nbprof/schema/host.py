"""Columns of tables about code: operators, modules, regions, chains of calls.

In: nothing. Out: their names, types, units and meanings.
"""

from __future__ import annotations

from collections.abc import Mapping

from nbprof.schema.column import Column, columns

HOST: Mapping[str, tuple[Column, ...]] = {
    "operators": columns(
        ("name", "category", "", "operator"),
        ("calls", "int64", "", "number of calls"),
        ("host_total_us", "float64", "us", "summed duration on the host, nested calls included"),
        (
            "host_self_us",
            "float64",
            "us",
            "the same less the union of direct children (operators and runtime calls)",
        ),
        ("device_total_us", "float64", "us", "summed device events launched anywhere inside"),
        ("device_self_us", "float64", "us", "summed device events launched by the operator itself"),
        ("mean_us", "float64", "us", "mean host time of a call"),
        ("min_us", "float64", "us", "shortest call"),
        ("max_us", "float64", "us", "longest call"),
        (
            "share",
            "float64",
            "fraction",
            "of summed device_self_us where the trace has device events, else of host_self_us",
        ),
        ("p50_us", "float64", "us", "median of a call's host time"),
        ("p95_us", "float64", "us", "95th percentile of it"),
        ("std_us", "float64", "us", "standard deviation of it"),
        ("flops", "float64", "FLOP", "arithmetic of all calls, nested ones included; NA where no formula applies"),
        ("moved_bytes", "float64", "bytes", "the least that all calls must read and write, nested ones included"),
        ("tflops", "float64", "TFLOP/s", "flops by device_total_us (host_total_us without a device)"),
        ("gbs", "float64", "GB/s", "moved_bytes by the same time"),
        ("backward_calls", "int64", "", "how often its backward, and that of nested operators, ran"),
        ("backward_us", "float64", "us", "time of these on the device (on the host without a device)"),
        ("recomputed_calls", "int64", "", "calls that ran again in a backward (activation checkpointing)"),
        (
            "tensor_core_share",
            "float64",
            "fraction",
            "of device_total_us, in kernels that use tensor cores by their names; NA without products or convolutions",
        ),
        ("tensor_core_eligible", "boolean", "", "whether tensor cores can do some of it, by the types of the inputs"),
    ),
    "regions": columns(
        ("region", "category", "", "name"),
        ("parent", "category", "", "region that it was entered from; NA at the top"),
        ("calls", "int64", "", "entries"),
        ("wall_us", "float64", "us", "summed time between entry and exit"),
        ("self_us", "float64", "us", "the same less nested regions"),
        ("host_us", "float64", "us", "union of its operators on the host"),
        ("device_us", "float64", "us", "union of its device events"),
        (
            "idle_us",
            "float64",
            "us",
            "from its start to its last device event's end, less busy; NA without a device",
        ),
        ("share", "float64", "fraction", "of summed self_us"),
        ("depth", "int64", "", "place in the tree that the rows read as, from the top; 0 outermost"),
    ),
    "region_steps": columns(
        ("region", "category", "", "name"),
        ("step", "int64", "", "number of the step in which the entries began"),
        ("wall_us", "float64", "us", "summed time between entry and exit, entries inside their own region left out"),
        ("self_us", "float64", "us", "the same of all entries, less nested regions"),
    ),
    "region_entries": columns(
        ("region", "category", "", "name"),
        ("parent", "category", "", "region that it was entered from; NA at the top"),
        ("depth", "int64", "", "how many entries are around it"),
        ("start_us", "float64", "us", "entry, from trace.metadata.start_ns"),
        ("wall_us", "float64", "us", "time between entry and exit"),
        ("self_us", "float64", "us", "the same less entries directly inside"),
        ("position", "int64", "", "row of its marker in events"),
        ("outer", "int64", "", "row here of the entry around it, or -1"),
    ),
    "modules": columns(
        ("module", "category", "", "class and number of an nn.Module, as torch names it"),
        ("parent", "category", "", "module that it was called from; NA at the top"),
        ("calls", "int64", "", "number of calls"),
        ("host_total_us", "float64", "us", "summed duration on the host"),
        ("host_self_us", "float64", "us", "the same less modules called inside"),
        ("device_total_us", "float64", "us", "summed device events launched anywhere inside, on its thread"),
        ("device_self_us", "float64", "us", "the same less those launched in modules called inside"),
        ("backward_host_us", "float64", "us", "host time of its operators' backward, modules inside included"),
        ("backward_device_us", "float64", "us", "device time of the same backward"),
        ("depth", "int64", "", "place in the tree that the rows read as, from the top; 0 outermost"),
    ),
    "critical_path": columns(
        ("start_us", "float64", "us", "start of this part of the path, from trace.metadata.start_ns"),
        ("dur_us", "float64", "us", "its length; all together they are the path"),
        ("kind", "category", "", "host, launch, device, sync, communication, memory or wait"),
        ("name", "category", "", "operator, call or kernel; NA for a wait and between operators"),
        ("place", "category", "", "thread or stream that it is on; NA for a wait"),
        ("position", "Int64", "", "row of it in events; NA where it has no name"),
    ),
    "sequences": columns(
        ("sequence", "category", "", "names of its kernels in the order in which they ran"),
        ("operator", "category", "", "outermost operator that launched them"),
        ("kernels", "int64", "", "how many kernels the chain has"),
        ("calls", "int64", "", "how often it ran"),
        ("total_us", "float64", "us", "summed device time of its kernels"),
        ("mean_us", "float64", "us", "mean of one run of the chain"),
        ("gap_us", "float64", "us", "summed idle time between its kernels"),
        ("share", "float64", "fraction", "of summed kernel time"),
        ("is_fusible", "bool", "", "all its kernels are elementwise, normalisation, reduction or copy kernels"),
    ),
    "flame": columns(
        ("stack", "str", "", "frames from the outermost, joined by ;"),
        ("depth", "int64", "", "frames above"),
        ("name", "category", "", "last frame"),
        ("kind", "category", "", "region, annotation, module, python, operator, runtime or device"),
        ("calls", "int64", "", "number of calls"),
        ("total_us", "float64", "us", "time in the frame, what it calls included"),
        ("self_us", "float64", "us", "time in the frame itself"),
    ),
}
