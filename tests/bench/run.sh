#!/usr/bin/env bash
# Runs every benchmark of tests/bench/definitions and writes a record folder: machine.json, results.json, README.md.
# usage: tests/bench/run.sh [NAME...]      needs python3; the peers come from PEERS, a virtual environment in which somebody did
#   pip install torch torch_geometric safetensors scipy pyarrow networkit igraph pymetis
# (default target/peers-bench). A benchmark whose peer is missing is reported as skipped, never left out.
# Real graphs come from WARPLOOM_SHARED/data; BENCH_ONLY=gat/cora,bfs/ takes a part of `epochs` and `analytics`, BENCH_SOURCES=4 fewer
# sources of searches.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --release --workspace --bins --quiet
cargo build --release --package warploom-bench --examples --quiet
PEERS=${PEERS:-target/peers-bench}
if [ -x "$PEERS/bin/python" ]; then python="$PEERS/bin/python"; else python=python3; fi
exec "$python" -W ignore tests/bench/bench.py "$@"
