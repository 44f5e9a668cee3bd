"""GCN-16's epoch beside that of plain kernels in one CUDA graph (epoch_probe.py)."""
from . import epochs
from .scene import Failed, RULER, geometric_mean, lines, ratio, shown


def measure(scene, given):
    row = {"graph": scene.graph, **{key: value for key, value in epochs.ours(scene, "gcn").items() if key != "launches_us"}}
    try:
        said = scene.beside(RULER / "epoch_probe.py", "--graphs", scene.graph)
    except Failed as error:
        said, row["problem"] = lines(error.said), str(error)
    for line in said:
        if line.get("what") == "gcn_epoch_probe":
            row.update({f"probe_{key}": value for key, value in line.items() if key not in ("what", "graph")})
    yield row


def table(rows):
    page = ["Milliseconds an epoch of GCN-16.", "", "| graph | Warploom | plain kernels | times as fast |", "|---|---|---|---|"]
    ratios = []
    for row in rows:
        value = ratio(row.get("probe_epoch_ms"), row.get("ms"))
        ratios += [(value, row["graph"])] if value else []
        page.append(f"| {row['graph']} | {shown(row['ms'], 4) if 'ms' in row else row.get('error')} | {shown(row.get('probe_epoch_ms'), 4) if 'probe_epoch_ms' in row else row.get('problem', '-')} | {shown(value, 2)} |")
    if ratios:
        least, where = min(ratios)
        page += ["", f"- {geometric_mean(value for value, _ in ratios):.2f} times as fast in geometric mean, at least {least:.2f} ({where})"]
    return page
