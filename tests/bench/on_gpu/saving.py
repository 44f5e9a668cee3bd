"""What it costs to save the state of a training now and then: GCN-16's epoch with a state every so many epochs, beside that without any.

Each is the median epoch of a training of its own. Parameters and moments come home while the device goes on, and a thread writes them.
"""
from . import epochs
from .scene import Failed, record, shown

EPOCHS = 1280
EVERY = (1, 16, 128)


def measure(scene, given):
    pipeline, settings = epochs.training("gcn")
    settings = [setting for setting in settings if not setting.startswith("run.epochs=")]
    row = {"graph": scene.graph}
    try:
        for every in (None, *EVERY):
            # When states are saved is no part of what a run is: another seed makes it another run.
            saved = [f"run.checkpoint={{every_epochs: {every}}}", f"run.seed={every}"] if every else []
            ran = scene.ours(pipeline, (f"run.epochs={EPOCHS}", *settings, *saved))[1]
            row[f"every_{every}_ms" if every else "ms"] = record(ran)["seconds_step"] * 1e3
    except Failed as error:
        row["error"] = str(error)
    yield row


def table(rows):
    titles = [f"a state every {every}" for every in EVERY]
    page = [f"Milliseconds an epoch of GCN-16, of {EPOCHS}.", "", f"| graph | none saved | {' | '.join(titles)} |", "|---" * (2 + len(EVERY)) + "|"]
    for row in rows:
        page.append(f"| {row['graph']} | {' | '.join(shown(row.get(key), 4) for key in ('ms', *(f'every_{every}_ms' for every in EVERY)))} | {row.get('error', '')}".rstrip(" |") + " |")
    return page
