"""Columns of what was recorded.

In: nothing. Out: the table `events`.
"""

from __future__ import annotations

from collections.abc import Mapping

from nbprof.schema.column import Column, columns

RECORDED: Mapping[str, tuple[Column, ...]] = {
    "events": columns(
        ("name", "category", "", "name as recorded, decoded where nbprof had encoded it"),
        ("category", "category", "", "kind of event, older names folded to today's"),
        ("ph", "category", "", "phase of the Chrome trace format: X, i, s, f, C, ..."),
        ("pid", "category", "", "process (or device row) as text"),
        ("tid", "category", "", "thread (or stream row) as text"),
        ("ts_ns", "int64", "ns", "start, from trace.metadata.start_ns"),
        ("dur_ns", "Int64", "ns", "duration; NA where the event has none"),
        ("device", "Int16", "", "device index of a device event"),
        ("stream", "Int64", "", "stream of a device event or runtime call"),
        ("correlation", "Int64", "", "joins a device event to its launch"),
        ("external_id", "Int64", "", "External id as recorded"),
        ("in_region", "bool", "", "whether tables count it: always True in a file that is not gated"),
        ("args", "object", "", "all arguments as recorded, decoded when looked at"),
        ("flow_id", "Int64", "", "joins the ends of a flow (ph s and f), and the parts of an asynchronous event"),
        ("seq", "Int64", "", "sequence number that links a forward operator to its backward"),
        ("forward_thread", "Int64", "", "thread number of the forward operator (Fwd thread id)"),
        ("shapes", "category", "", "shapes of an operator's inputs, as JSON text"),
        ("dtypes", "category", "", "types of an operator's inputs, as JSON text"),
        ("strides", "category", "", "strides of an operator's inputs, as JSON text"),
        ("bytes", "Int64", "bytes", "size of a copy or fill; of an allocation, negative when freed"),
        ("bandwidth_gbs", "float64", "GB/s", "memory bandwidth of a copy or fill"),
        ("grid", "category", "", "blocks of a kernel, as JSON text"),
        ("block", "category", "", "threads of a block, as JSON text"),
        ("registers", "Int64", "", "registers a thread"),
        ("shared_memory_bytes", "Int64", "bytes", "shared memory of a block"),
        ("blocks_per_sm", "float64", "", "blocks for each multiprocessor"),
        ("warps_per_sm", "float64", "", "warps for each multiprocessor"),
        ("occupancy", "float64", "fraction", "estimated achieved occupancy"),
        ("collective", "category", "", "name of a collective"),
        ("group", "category", "", "name of the process group of a collective"),
        ("group_size", "Int64", "", "ranks in that group"),
        ("in_elements", "Int64", "", "elements that a collective takes"),
        ("out_elements", "Int64", "", "elements that a collective gives"),
        ("element_type", "category", "", "type of those elements"),
        ("address", "Int64", "", "address of an allocation"),
        ("allocated_bytes", "Int64", "bytes", "allocated on its device after an allocation or release"),
        ("reserved_bytes", "Int64", "bytes", "reserved on its device after it"),
        ("device_type", "Int64", "", "kind of device whose memory it is, in torch's numbers: 0 CPU, 1 CUDA, 6 HIP"),
        ("device_id", "Int64", "", "index of that device, -1 for the host"),
    ),
}
