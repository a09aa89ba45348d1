"""A trace as one Parquet file, and back: events as plain columns, arguments as JSON text, all else in its metadata.

In: a trace, or the bytes of such a file. Out: the file, or exactly the same trace, whose arguments stay packed until they
are looked at. Importing this takes pyarrow.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from nbprof.errors import TraceFormatError
from nbprof.metadata import METADATA_KEY, TraceMetadata
from nbprof.reader.arguments import ArgsArray, ArgsDtype
from nbprof.reader.blocks import ArgsStore, packed
from nbprof.schema import TABLES, VERSION
from nbprof.writing import beside

Contents: TypeAlias = tuple[pd.DataFrame, TraceMetadata, Mapping[str, Any] | None]
"""Events, metadata, and the FX payload where there is one."""

_ROWS = 1 << 16
"""Rows of a group, the arguments of which are unpacked together."""
_LAYOUT = 1
_ARGS = "args"
_DTYPES = {column.name: column.dtype for column in TABLES["events"]}


def write_parquet(
    events: pd.DataFrame, metadata: TraceMetadata, fx: Mapping[str, Any] | None, path: str | os.PathLike[str]
) -> Path:
    """Write a trace, its rows numbered anew; returns the path. Raises TraceWriteError."""
    target = Path(path)
    schema = _schema(events)
    facts = _facts(events, metadata, fx)
    words = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    with beside(target) as part:
        with pq.ParquetWriter(part, schema, compression="zstd", use_dictionary=words) as writer:
            for columns in _row_groups(events, schema):
                writer.write_table(pa.table(columns, schema), row_group_size=_ROWS)
            # Not as metadata of the schema, which pyarrow writes twice.
            writer.add_key_value_metadata({METADATA_KEY: json.dumps(facts)})
        data = memoryview(part.read_bytes())
        footer = _footer_start(data)
        with part.open("r+b") as file:
            file.seek(footer)
            file.write(_checksum(data[:footer], data[footer:]))
            file.write(data[footer:])
        part.replace(target)
    return target


def _schema(events: pd.DataFrame) -> pa.Schema:
    """Types of the file's columns; its metadata says for pandas what each is, but for the arguments."""
    schema = pa.Schema.from_pandas(events.drop(columns=_ARGS), preserve_index=False)
    for place, field in enumerate(schema):
        if _has_words(events[field.name]):
            ordered = events[field.name].cat.ordered
            schema = schema.set(place, field.with_type(pa.dictionary(pa.int32(), pa.string(), ordered)))
    return schema.insert(events.columns.get_loc(_ARGS), pa.field(_ARGS, pa.string()))


def _has_words(column: pd.Series[Any]) -> bool:
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return False
    words = column.cat.categories
    return words.empty or pd.api.types.is_string_dtype(words.dtype)


def _facts(events: pd.DataFrame, metadata: TraceMetadata, fx: Mapping[str, Any] | None) -> dict[str, Any]:
    told = asdict(metadata)
    del told["source"], told["bytes"]  # these are the file's own
    words = {name: column.cat.categories.tolist() for name, column in events.items() if _has_words(column)}
    return {"version": VERSION, "layout": _LAYOUT, "metadata": told, "categories": words, "fx": fx}


def _row_groups(events: pd.DataFrame, schema: pa.Schema) -> Iterator[list[pa.Array]]:
    texts = events[_ARGS].astype(ArgsDtype()).array.texts()
    for start in range(0, max(len(events), 1), _ROWS):
        rows = events.iloc[start : start + _ROWS]
        args = [text and text.decode("utf-8", "replace") for text in islice(texts, _ROWS)]
        yield [
            pa.array(args, field.type) if field.name == _ARGS else _as_arrow(rows[field.name], field.type)
            for field in schema
        ]


def _as_arrow(column: pd.Series[Any], wanted: pa.DataType) -> pa.Array:
    if _has_words(column):
        # Encoded anew: with only the words of these rows a group is no larger for what stands in others.
        return pa.array(column).cast(pa.string()).dictionary_encode()
    return pa.array(column, wanted, from_pandas=True)


def _footer_start(data: bytes | memoryview) -> int:
    # The file ends in the footer, its length in four bytes, and PAR1.
    return len(data) - 8 - int.from_bytes(data[-8:-4], "little")


def _checksum(pages: bytes | memoryview, footer: bytes | memoryview) -> bytes:
    """Stands before the footer, where no reader looks: pyarrow ends the process on some damaged ones."""
    return zlib.crc32(footer, zlib.crc32(pages)).to_bytes(4, "little")


def read_parquet(data: bytes, source: str) -> Contents:
    """The trace in the bytes of a file that `write_parquet` made. Raises TraceFormatError that names `source`."""
    advice = "Read the trace that it was made of, and write it again."
    footer = _footer_start(data)
    if not data.endswith(b"PAR1") or footer < 8:
        raise TraceFormatError(source, "this Parquet file is cut off", advice=advice)
    view = memoryview(data)
    if view[footer - 4 : footer] != _checksum(view[: footer - 4], view[footer:]):
        if METADATA_KEY.encode() not in data[footer:]:
            raise TraceFormatError(
                source, "this Parquet file holds no trace", advice="to_parquet writes those that do."
            )
        raise TraceFormatError(source, "this Parquet file is damaged", advice=advice)
    file = pq.ParquetFile(pa.BufferReader(data))
    facts = json.loads(file.metadata.metadata[METADATA_KEY.encode()])
    if facts["layout"] != _LAYOUT or not _DTYPES.keys() <= set(file.schema_arrow.names):
        problem = f"nbprof {facts['version']} wrote this file otherwise than {VERSION} reads it"
        raise TraceFormatError(source, problem, advice=advice)
    metadata = msgspec.convert({**facts["metadata"], "source": source, "bytes": len(data)}, TraceMetadata)
    columns: dict[str, Any] = {}
    for field in file.schema_arrow:  # one at a time, so that no more than one is there twice
        words = facts["categories"].get(field.name)
        if field.name == _ARGS:
            columns[_ARGS] = _arguments(file, data)
        elif 0 < file.metadata.num_rows == _nulls(file, field.name):
            columns[field.name] = _no_values(file, field, words)
        else:
            columns[field.name] = _column(file, field.name, words)
    return pd.DataFrame(columns, copy=False), metadata, facts["fx"]


def _nulls(file: pq.ParquetFile, name: str) -> int:
    place = file.schema_arrow.get_field_index(name)
    groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
    return sum(group.column(place).statistics.null_count for group in groups if group.num_rows)


def _no_values(file: pq.ParquetFile, field: pa.Field, words: Sequence[str] | None) -> Any:
    """One missing value, broadcast: it takes no time and no memory, but can't be written into."""
    count = file.metadata.num_rows
    if words is not None:
        codes = np.broadcast_to(np.int8(-1), count)
        return pd.Categorical.from_codes(codes, pd.Index(list(words), dtype="str"), ordered=field.type.ordered)
    if _DTYPES.get(field.name) == "float64":
        return np.broadcast_to(np.nan, count)
    if _DTYPES.get(field.name) in ("Int64", "Int16"):
        one = np.dtype(_DTYPES[field.name].lower()).type(1)
        return pd.arrays.IntegerArray(np.broadcast_to(one, count), np.broadcast_to(True, count))
    return _column(file, field.name, words)


def _column(file: pq.ParquetFile, name: str, words: Sequence[str] | None) -> pd.Series[Any]:
    column: pd.Series[Any] = file.read(columns=[name]).to_pandas()[name]
    if words is not None:
        column = column.cat.set_categories(pd.Index(list(words), dtype="str"))
    return column


def _arguments(file: pq.ParquetFile, data: bytes) -> ArgsArray:
    blocks = [_Group(data, file.metadata, number) for number in range(file.num_row_groups)]
    ends = np.cumsum([0, *(file.metadata.row_group(number).num_rows for number in range(len(blocks)))])
    numbers = np.arange(ends[-1])
    if _nulls(file, _ARGS):
        numbers[file.read(columns=[_ARGS])[_ARGS].is_null().to_numpy()] = -1
    return ArgsArray(ArgsStore(blocks, ends[:-1], int(ends[-1])), numbers)


class _Group:
    """The arguments of one row group, still in the bytes of their file; pickled they are apart from it."""

    def __init__(self, data: bytes, metadata: pq.FileMetaData, number: int) -> None:
        self._data = data
        self._metadata = metadata
        self._number = number

    def __reduce__(self) -> Any:
        return bytes, (packed(b"[" + b",".join(b'{"args":%s}' % (text or b"{}") for text in self.texts()) + b"]"),)

    def __len__(self) -> int:
        place = self._metadata.schema.names.index(_ARGS)
        return int(self._metadata.row_group(self._number).column(place).total_compressed_size)

    def texts(self) -> list[bytes]:
        """The JSON text of each event's arguments."""
        file = pq.ParquetFile(pa.BufferReader(self._data), metadata=self._metadata)
        column = file.read_row_group(self._number, [_ARGS])[_ARGS]
        texts: list[bytes] = column.cast(pa.binary()).to_pylist()
        return texts
