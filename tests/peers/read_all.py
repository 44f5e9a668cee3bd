"""Opens every file of every artifact of a store with other programs' readers and compares what they see.

usage: read_all.py STORE      prints a line for each artifact; the first that does not fit ends it with a message and 1
"""

import json
import math
import os
import pathlib
import struct
import sys

import duckdb
import numpy
import polars
import pyarrow
import pyarrow.parquet

ROWS = {
    # file: the count of its manifest that is its number of rows; None: not one of them
    "edges.parquet": "edges",
    "nodes.parquet": "nodes",
    "features.arrow": "nodes",
    "features-sparse.arrow": "nodes",
    "degrees.parquet": "nodes",
    "in_offsets.arrow": None,
    "out_offsets.arrow": None,
    "in_sources.arrow": "edges",
    "out_targets.arrow": "edges",
    "in_edge.arrow": "edges",
    "out_edge.arrow": "edges",
    "weights.arrow": "edges",
    "types.arrow": "edges",
    "graphs.arrow": "nodes",
    "new_of_old.arrow": "nodes",
    "metrics.parquet": None,
    "predictions.parquet": "nodes",
    "values.parquet": "nodes",
}


def end(code):
    """Ends the program without what the readers do at exit: threads that they leave behind can abort an interpreter that is done."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def fits(condition, what):
    """Ends the program when something does not hold."""
    if not condition:
        print(f"does not fit: {what}", file=sys.stderr)
        end(1)


def same(left, right):
    """Equal, with NaN equal to itself, through lists."""
    if isinstance(left, float) and isinstance(right, float):
        return left == right or (math.isnan(left) and math.isnan(right))
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return left == right


def rows_looked_at(count):
    """The first rows, the last ones and some between."""
    return sorted({row for row in [0, 1, 2, count // 3, count // 2, count - 2, count - 1] if 0 <= row < count})


def compare(path, ours, theirs, names):
    """The same values in some rows of every column of two readers, each a function of (name, row)."""
    for name in names:
        for row in rows_looked_at(ours["rows"]):
            left, right = ours["at"](name, row), theirs["at"](name, row)
            fits(same(left, right), f"{path}: column {name}, row {row}: {left!r} of pyarrow, {right!r} of {theirs['who']}")


def of_pyarrow(table):
    columns = {name: table.column(name) for name in table.column_names}
    return {"who": "pyarrow", "rows": table.num_rows, "at": lambda name, row: columns[name][row].as_py()}


def of_polars(frame):
    def at(name, row):
        value = frame[name][row]
        return value.to_list() if isinstance(value, polars.Series) else value

    return {"who": "polars", "rows": frame.height, "at": at}


def of_duckdb(relation):
    rows = relation.fetchall()
    place = {column[0]: index for index, column in enumerate(relation.description)}
    return {"who": "duckdb", "rows": len(rows), "at": lambda name, row: rows[row][place[name]]}


def read_table(path):
    """A Parquet or Arrow file through three readers; gives pyarrow's table."""
    if path.suffix == ".parquet":
        table = pyarrow.parquet.read_table(path)
        frame = polars.read_parquet(path)
        relation = duckdb.sql(f"select * from read_parquet('{path}')")
    else:
        # Kept open on purpose: the table is a view of the map, nothing of it is copied.
        before = pyarrow.total_allocated_bytes()
        table = pyarrow.ipc.open_file(pyarrow.memory_map(str(path))).read_all()
        fits(pyarrow.total_allocated_bytes() - before < 4096, f"{path}: reading the map copied its contents")
        frame = polars.read_ipc(path)
        relation = duckdb.from_arrow(table)
    names = table.column_names
    fits(frame.columns == names and list(relation.columns) == names, f"{path}: columns {names}, {frame.columns}, {relation.columns}")
    ours = of_pyarrow(table)
    for theirs in [of_polars(frame), of_duckdb(relation)]:
        fits(ours["rows"] == theirs["rows"], f"{path}: {ours['rows']} rows of pyarrow, {theirs['rows']} of {theirs['who']}")
        compare(path, ours, theirs, names)
    return table


def read_safetensors(path):
    """Eight bytes of length, a JSON header, then the tensors: with nothing but numpy."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    types = {"F32": "<f4", "F64": "<f8", "U32": "<u4"}
    end = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        first, last = entry["data_offsets"]
        fits(first == end, f"{path}: {name} begins at {first}, expected {end}")
        values = numpy.frombuffer(data[8 + length + first : 8 + length + last], dtype=types[entry["dtype"]])
        fits(values.size == math.prod(entry["shape"]), f"{path}: {name} has {values.size} numbers for {entry['shape']}")
        fits(numpy.isfinite(values).all(), f"{path}: {name} holds a number that is not finite")
        end = last
    fits(8 + length + end == len(data), f"{path}: {len(data) - 8 - length - end} bytes too many")
    return len(header)


def is_aligned(path, table):
    """Every buffer of an Arrow file begins at a multiple of 64 bytes."""
    for name in table.column_names:
        for chunk in table.column(name).chunks:
            for buffer in chunk.buffers():
                fits(buffer is None or buffer.address % 64 == 0, f"{path}: a buffer of {name} is not aligned to 64 bytes")


def check_offsets(folder, tables):
    """Offsets of a csr: one more than nodes, rising, from 0 to the number of edges."""
    edges = tables["in_sources.arrow"].num_rows
    for name in ["in_offsets.arrow", "out_offsets.arrow"]:
        offsets = tables[name].column(0).to_numpy()
        fits(offsets[0] == 0 and offsets[-1] == edges and (numpy.diff(offsets.astype("int64")) >= 0).all(), f"{folder}/{name}: {offsets}")


def tables_of_divisions(folder):
    """Rows of each table that the page of a partition lists."""
    page = folder / "partition.json"
    if not page.exists():
        return {}
    divisions = json.loads(page.read_text())["schemes"]
    return {f"{table['name']}.arrow": table["rows"] for division in divisions for table in division["tables"]}


def read_artifact(folder):
    """Every file of an artifact."""
    manifest = json.loads((folder / "manifest.json").read_text())
    tables = {}
    divided = tables_of_divisions(folder)
    for entry in manifest["files"]:
        path = folder / entry["name"]
        if path.suffix == ".json":
            json.loads(path.read_text())
        elif path.suffix == ".safetensors":
            fits(read_safetensors(path) > 0, f"{path}: no tensor")
        elif path.suffix in (".parquet", ".arrow"):
            table = tables[entry["name"]] = read_table(path)
            if entry["name"] in divided:
                fits(table.num_rows == divided[entry["name"]], f"{path}: {table.num_rows} rows, the page says {divided[entry['name']]}")
                is_aligned(path, table)
                continue
            fits(entry["name"] in ROWS, f"{path}: not a file of the interface")
            count = ROWS[entry["name"]]
            fits(count is None or table.num_rows == manifest["counts"][count], f"{path}: {table.num_rows} rows, the manifest says {manifest['counts']}")
            if path.suffix == ".arrow":
                is_aligned(path, table)
        else:
            fits(False, f"{path}: not a kind of file of the interface")
    if "in_offsets.arrow" in tables:
        check_offsets(folder, tables)
    return len(manifest["files"])


def main():
    store = pathlib.Path(sys.argv[1])
    files = 0
    for folder in sorted(path.parent for path in store.glob("*-v*/*/manifest.json")):
        count = read_artifact(folder)
        files += count
        print(f"{folder.relative_to(store)}: {count} files")
    print(f"{files} files opened")


main()
end(0)
