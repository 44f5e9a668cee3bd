"""Levels of breadth-first searches with BLEST (tensor cores, arXiv 2512.21967), on a csr of ours.

usage: python3 blest_levels.py CHECKOUT CSR FOLDER VERTEX...      one line of JSON: milliseconds of a search, the mean of all
CHECKOUT is a checkout of github.com/delbek/blest, which is compiled into FOLDER with nvcc, once. CSR is the folder of an artifact.
"""
import os, pathlib, shutil, subprocess, sys

RULER = pathlib.Path(__file__).resolve().parents[1] / "rulers" / "blest"


def binary(checkout, folder):
    built = folder / "blest_levels"
    if not built.exists():
        compiler = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        parts = [checkout / part for part in ("", "DataStructures", "BFS", "CC", "MBFS", "Gorder")]
        command = [compiler, "-O3", "--std=c++20", "-arch=native", "-Xcompiler", "-fopenmp", *(f"-I{part}" for part in (*parts, RULER)),
                   RULER / "levels.cu", *sorted((checkout / "Gorder").glob("*.cpp")), "-o", built, "-lgomp"]
        subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
    return built


def main(checkout, csr, folder, *vertices):
    import numpy, pyarrow.feather
    checkout, csr, folder = (pathlib.Path(path).resolve() for path in (checkout, csr, folder))
    folder.mkdir(parents=True, exist_ok=True)
    vector = lambda name: pyarrow.feather.read_table(csr / f"{name}.arrow").column(0).to_numpy().astype(numpy.uint32)
    offsets, far = vector("in_offsets"), vector("in_sources")
    name = folder / csr.name
    degrees = numpy.diff(offsets.astype(numpy.int64))
    with open(f"{name}_csc.bin", "wb") as file:
        numpy.array([len(degrees), len(far)], numpy.uint32).tofile(file)
        # Social networks are padded less: as its own rule, few vertices have most edges.
        numpy.array([degrees.max() > 50 * max(degrees.mean(), 1)], numpy.uint8).tofile(file)
        offsets.tofile(file)
        far.tofile(file)
    pathlib.Path(f"{name}.txt").write_text("\n".join(vertices) + "\n")
    done = subprocess.run([binary(checkout, folder), name], check=True, capture_output=True, text=True, cwd=folder)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    print(lines[-1])


if __name__ == "__main__":
    main(*sys.argv[1:])
