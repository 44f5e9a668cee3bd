"""Trains what papers trained, with their settings, and writes how accurate it became beside what they print.

Promises that every number is the test quality of the epoch that the pipeline keeps, over seeds, published splits or folds; that only
real data are used: a set that is not there is left out, loudly. Needs nothing but Python's own library and a release build.

    python3 tests/accuracy/accuracy.py [--only NAME,NAME] [--record]
"""
import argparse, datetime, json, os, pathlib, statistics, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "release/warploom"
SHARED = pathlib.Path(os.environ.get("WARPLOOM_SHARED", ROOT.parent / "shared")).resolve() / "data"
WORK = pathlib.Path(os.environ.get("ACCURACY_DIR", ROOT / "target/accuracy")).resolve()
RECORD = pathlib.Path(__file__).resolve().parent / "record"

# Settings that vary together, and their values. Where papers draw the split anew for each run, so do we.
SEEDS = (["run.seed"], list(range(1, 11)))
DRAWN = (["ingest.seed", "run.seed"], list(range(1, 11)))
SPLITS = (["run.split"], list(range(10)))
# Xu et al. (2019) and Errica et al. (2020) train on nine folds of ten; here one of them chooses the epoch. An epoch is one step over all
# graphs, so that there are more of them.
FOLDS = ["ingest.split={folds: {count: 10}}", "plan.set.graphs=true", "plan.set.norm=true", "plan.set.hidden=32", "run.keep=best"]
PLAIN = ["run.keep=best"]
ROWS = ["ingest.normalize=row"]
# Shchur et al. and Zhu et al. search widths, epochs and decays for every set; these are of their ranges.
WIDE = ["plan.set.hidden=64"]


def decay(weight):
    return f"run.optimizer={{adam: {{lr: 0.01, weight_decay: {weight}}}}}"


# name, pipeline, data set, what varies, settings, least mean that the project asks for or none, what was published (mean, deviation, by
# whom) or none
CASES = [
    ("gcn-cora", "gcn", "cora", SEEDS, [], 81.0, (81.5, None, "Kipf & Welling 2017")),
    ("gat-cora", "gat", "cora", SEEDS, [], 82.0, (83.0, 0.7, "Velickovic et al. 2018")),
    ("appnp-cora", "appnp", "cora", SEEDS, [], 82.5, (83.3, None, "Gasteiger et al. 2019, as run by PyG's examples")),
    ("gcn-cora_ml", "gcn", "cora_ml", DRAWN, PLAIN + WIDE, None, (83.4, None, "Gasteiger et al. 2019; 64 hidden, on the largest component")),
    ("sage-cora_ml", "sage", "cora_ml", DRAWN, PLAIN + ROWS, None, None),
    ("gcn-amazon_photo", "gcn", "amazon-photo", DRAWN, PLAIN + WIDE + ["ingest.normalize=none"], None, (91.2, 1.2, "Shchur et al. 2018; on the largest component")),
    ("sage-amazon_photo", "sage", "amazon-photo", DRAWN, PLAIN + WIDE + ROWS + ["run.epochs=1000", decay("5.0e-5")], None, (91.4, 1.3, "Shchur et al. 2018; on the largest component")),
    ("gcn-actor", "gcn", "actor", SPLITS, PLAIN, None, (27.3, 1.1, "Yan et al. 2021; Zhu et al. 2020 have 30.3")),
    ("sage-actor", "sage", "actor", SPLITS, PLAIN, None, (34.2, 1.0, "Zhu et al. 2020")),
    ("gcn-wisconsin", "gcn", "wisconsin", SPLITS, PLAIN, None, (51.8, 3.1, "Yan et al. 2021; Zhu et al. 2020 have 59.8")),
    ("sage-wisconsin", "sage", "wisconsin", SPLITS, PLAIN + WIDE + [decay("5.0e-3")], None, (81.2, 5.6, "Zhu et al. 2020")),
    ("gcn-minesweeper", "gcn", "minesweeper", SPLITS, PLAIN + ["run.metric=auc", "run.epochs=1000", "plan.set.hidden=64"], None, (89.8, 0.5, "Platonov et al. 2023; with residual connections and normalisation, which plain GCN lacks")),
    ("sage-minesweeper", "sage", "minesweeper", SPLITS, PLAIN + ["run.metric=auc", "run.epochs=1000", "plan.set.hidden=64", "plan.set.drop=0.2"], None, (93.5, 0.6, "Platonov et al. 2023; with residual connections and normalisation, which plain SAGE lacks")),
    ("rgcn-aifb", "rgcn", "aifb", SEEDS, ["ingest.inverse_relations=true"], 94.0, (95.8, 0.6, "Schlichtkrull et al. 2018")),
    ("rgcn-mutag", "rgcn", "mutag", SEEDS, ["ingest.inverse_relations=true", "plan.set.bases=30", "run.optimizer={adam: {lr: 0.01, weight_decay: 5.0e-4}}"], 71.0, (73.2, 0.5, "Schlichtkrull et al. 2018")),
    ("gin-MUTAG", "gin", "tu-mutag", SPLITS, FOLDS + ["run.epochs=600"], None, (89.4, 5.6, "Xu et al. 2019, best epoch over all folds")),
    ("gin-PROTEINS", "gin", "PROTEINS", SPLITS, FOLDS + ["run.epochs=150"], None, (73.3, 4.0, "Errica et al. 2020")),
    ("gin-ENZYMES", "gin", "ENZYMES", SPLITS, FOLDS + ["run.epochs=1200"], None, (59.6, 4.5, "Errica et al. 2020")),
    ("gin-IMDB-BINARY", "gin", "IMDB-BINARY", SPLITS, FOLDS + ["run.epochs=150"], None, (71.2, 3.9, "Errica et al. 2020")),
]


def warploom(pipeline, dataset, settings):
    """Runs a pipeline to its end; gives the record of its run, or none where the real data are not here."""
    sets = [part for setting in [f"dataset={dataset}", *settings] for part in ("--set", setting)]
    command = [BINARY, "pipeline", f"pipelines/{pipeline}.yaml", *sets, "--store", WORK / "store", "--data", SHARED, "--real=strict", "--format", "json", "--quiet"]
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        if "stand-in was refused" in done.stderr:
            return None
        raise SystemExit(f"{' '.join(map(str, command))} -> {done.returncode}\n{done.stderr}")
    line = next(line for line in map(json.loads, done.stdout.splitlines()) if line.get("stage") == "run")
    folder = next(artifact["path"] for artifact in line["artifacts"] if artifact["kind"] == "run")
    return json.loads((pathlib.Path(folder) / "record.json").read_text())


def measured(case):
    """Mean and deviation in per cent of a case; none where its data are missing."""
    name, pipeline, dataset, (axes, values), settings, least, published = case
    tests = []
    for value in values:
        record = warploom(pipeline, dataset, [*settings, *(f"{axis}={value}" for axis in axes)])
        if record is None:
            return None
        tests.append(100 * record["metrics"]["test"])
    mean, deviation = statistics.fmean(tests), statistics.stdev(tests)
    beside = f"published {published[0]} ({published[2]})" if published else "nothing published"
    print(f"{name:20} {mean:6.2f} ± {deviation:.2f}   {beside}" + (f", asked for {least}" if least else ""), flush=True)
    return {"pipeline": pipeline, "dataset": dataset, "over": axes, "settings": settings, "test": [round(test, 3) for test in tests], "mean": round(mean, 3), "deviation": round(deviation, 3), "asked": least, "published": published}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--only", default="", help="names of cases, or how they begin")
    arguments.add_argument("--record", action="store_true", help="write a record of this machine and day")
    given = arguments.parse_args()
    wanted = tuple(filter(None, given.only.split(",")))
    if given.record and wanted:
        arguments.error("a record is of all cases: leave out --only or --record")
    if not BINARY.exists():
        sys.exit(f"error: {BINARY} is not there\nhint: make build")
    WORK.mkdir(parents=True, exist_ok=True)
    results, missing = {}, []
    for case in CASES:
        if wanted and not case[0].startswith(wanted):
            continue
        result = measured(case)
        if result is None:
            missing.append(case[0])
            print(f"{case[0]:20} SKIPPED: the real data of {case[2]} are not under {SHARED}", flush=True)
        else:
            results[case[0]] = result
    short = [name for name, result in results.items() if result["asked"] and result["mean"] < result["asked"]]
    if given.record:
        RECORD.mkdir(exist_ok=True)
        processor = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown")
        path = RECORD / f"{datetime.date.today()}.json"
        path.write_text(json.dumps({"processor": processor, "results": results, "missing": missing}, indent=1, ensure_ascii=False) + "\n")
        print(f"record: {path.relative_to(ROOT)}")
    if short:
        sys.exit(f"below what is asked for: {', '.join(short)}")


if __name__ == "__main__":
    main()
