"""Columns of tables about devices: kernels, timelines, launches, communication, memory.

In: nothing. Out: their names, types, units and meanings.
"""

from __future__ import annotations

from collections.abc import Mapping

from nbprof.schema.column import Column, columns

DEVICE: Mapping[str, tuple[Column, ...]] = {
    "kernels": columns(
        ("name", "category", "", "kernel"),
        ("kernel_class", "category", "", "what kind of work it does"),
        ("calls", "int64", "", "number of runs"),
        ("total_us", "float64", "us", "summed duration"),
        ("mean_us", "float64", "us", "mean duration"),
        ("min_us", "float64", "us", "shortest"),
        ("max_us", "float64", "us", "longest"),
        ("share", "float64", "fraction", "of summed kernel time"),
        ("busy_share", "float64", "fraction", "of the devices' busy time"),
        ("p50_us", "float64", "us", "median duration"),
        ("p95_us", "float64", "us", "95th percentile of the duration"),
        ("std_us", "float64", "us", "standard deviation of the duration"),
        ("operator", "category", "", "innermost operator that launched most of its time"),
        ("stream", "Int64", "", "stream; NA if several"),
        ("blocks_per_sm", "float64", "", "blocks for each multiprocessor, mean weighted by duration"),
        ("occupancy", "float64", "fraction", "estimated achieved occupancy, mean weighted by duration"),
        ("grid", "category", "", "blocks, as JSON text; NA where they differ"),
        ("block", "category", "", "threads of a block, as JSON text; NA where they differ"),
    ),
    "timeline": columns(
        ("device", "Int16", "", "device index"),
        ("span_us", "float64", "us", "first start to last end of device events"),
        ("computation_us", "float64", "us", "some computation kernel runs"),
        ("exposed_comm_us", "float64", "us", "communication without computation beside it"),
        ("exposed_memory_us", "float64", "us", "copies and fills with neither beside them"),
        ("busy_us", "float64", "us", "anything runs"),
        ("idle_us", "float64", "us", "nothing runs"),
    ),
    "idle": columns(
        ("device", "Int16", "", "device index"),
        ("start_us", "float64", "us", "start of the gap, from trace.metadata.start_ns"),
        ("dur_us", "float64", "us", "its length"),
        ("reason", "category", "", "host, launch_latency, dependency or unknown; by step also head and tail"),
        (
            "host_activity",
            "category",
            "",
            "what the launching thread did meanwhile, where it launched after the gap began",
        ),
        ("before", "category", "", "device event that ended last before it"),
        ("after", "category", "", "device event that ended it"),
    ),
    "idle_summary": columns(
        ("device", "Int16", "", "device index"),
        ("reason", "category", "", "as in idle"),
        ("gaps", "int64", "", "number of gaps"),
        ("total_us", "float64", "us", "summed length"),
        ("mean_us", "float64", "us", "mean length"),
        ("share", "float64", "fraction", "of the device's idle time"),
    ),
    "launches": columns(
        ("name", "category", "", "runtime or driver call"),
        ("kernel", "category", "", "device event that it launched"),
        ("correlation", "Int64", "", "joins the two"),
        ("launch_us", "float64", "us", "duration of the call"),
        ("delay_us", "float64", "us", "from the end of the call to the start of the device event, at least 0"),
        ("kernel_us", "float64", "us", "duration of the device event"),
        ("stream", "Int64", "", "stream of the device event"),
        ("device", "Int16", "", "its device"),
        ("start_us", "float64", "us", "start of the call, from trace.metadata.start_ns"),
        (
            "queue_depth",
            "int64",
            "",
            "launched and not yet started on that stream when the call begins, itself included",
        ),
        ("is_short", "bool", "", "the device event is shorter than the call that launched it and nothing else"),
        ("kernel_start_us", "float64", "us", "start of the device event, from trace.metadata.start_ns"),
    ),
    "queue_depth": columns(
        ("device", "Int16", "", "device index"),
        ("stream", "Int64", "", "stream"),
        ("ts_us", "float64", "us", "time of the change, from trace.metadata.start_ns"),
        ("depth", "int64", "", "device events launched and not yet started from then on"),
    ),
    "communication": columns(
        ("name", "category", "", "kernel, or operator of a host collective"),
        ("collective", "category", "", "what it does: allreduce, allgather, reduce_scatter, broadcast, send, ..."),
        ("group", "category", "", "process group"),
        (
            "bytes",
            "Int64",
            "bytes",
            "what one rank puts in (of an all-gather: takes out); NA where the trace doesn't say",
        ),
        ("dur_us", "float64", "us", "its duration"),
        ("exposed_us", "float64", "us", "of it, time without computation on its device"),
        ("algorithm_gbps", "float64", "GB/s", "bytes / duration"),
        ("bus_gbps", "float64", "GB/s", "the same times the factor of the collective, comparable with the wire"),
        ("overlap_share", "float64", "fraction", "of it, time with computation on its device"),
        ("start_us", "float64", "us", "start, from trace.metadata.start_ns"),
        ("device", "Int16", "", "device index"),
        ("stream", "Int64", "", "stream"),
        ("group_size", "Int64", "", "ranks in the group"),
        ("element_type", "category", "", "type of its elements"),
    ),
    "memory": columns(
        ("device", "category", "", "kind and index of the device, as torch writes it: cuda:0, cpu"),
        ("ts_us", "float64", "us", "time of the allocation or release, from trace.metadata.start_ns"),
        ("allocated_bytes", "Int64", "bytes", "allocated from then on"),
        ("reserved_bytes", "Int64", "bytes", "reserved from then on; NA where the trace doesn't say"),
        ("bytes", "int64", "bytes", "size of this allocation, negative for a release"),
        ("operator", "category", "", "innermost operator around it"),
    ),
    "allocations": columns(
        ("device", "category", "", "kind and index of the device"),
        ("bytes", "int64", "bytes", "size"),
        ("start_us", "float64", "us", "time of the allocation; NA where it lies before the recording"),
        ("end_us", "float64", "us", "time of its release; NA where it lies after the recording"),
        ("operator", "category", "", "innermost operator around the allocation"),
        ("at_peak", "bool", "", "held when the allocated bytes of its device were highest"),
    ),
    "memory_operators": columns(
        ("device", "category", "", "kind and index of the device"),
        ("operator", "category", "", "innermost operator around the allocations; NA outside of all"),
        ("allocations", "int64", "", "how many"),
        ("gross_bytes", "int64", "bytes", "summed allocations"),
        ("net_bytes", "int64", "bytes", "the same less releases inside the operator"),
        ("peak_bytes", "Int64", "bytes", "of its allocations, held when the device's allocated bytes were highest"),
    ),
}
