"""The series that `npm run bench -- public` and `-- servers` measure, from what is fetched by hand.

python3 bench/anomaly/public_series.py OUT [--skab CLONE] [--interfusion CLONE] [--turbofan FILE]

OUT gets a folder for each set with NAME.train.csv and NAME.test.csv (docs/benchmarks/anomaly.md). CLONE is a clone of
waico/SKAB or of zhhlee/InterFusion, which has ASD and servers of SMD; FILE is train_FD001 of NASA's C-MAPSS as a CSV file
with the columns engine, cycle and so on. InterFusion's arrays are Python pickles: nothing but arrays is unpickled.
"""

import argparse
import csv
import pickle
from datetime import datetime, timedelta, timezone
from pathlib import Path

SKAB_TRAIN_ROWS = 400
SERVERS = ["1-6", "1-7", "2-1", "2-2", "2-7", "3-4"]
# Servers that nothing was chosen on.
OTHER_SERVERS = ["2-8", "3-3"]
BEGINS = datetime(2026, 1, 5, tzinfo=timezone.utc)
# Turbofan: the first engines teach, with their first cycles; of the others the last cycles before the failure are labelled.
TEACHING_ENGINES = 50
TEACHING_CYCLES = 60
LAST_CYCLES = 30


class Arrays(pickle.Unpickler):
    """Reads arrays of numbers, and refuses everything else."""

    ALLOWED = {
        ("numpy.core.multiarray", "_reconstruct"),
        ("numpy", "ndarray"),
        ("numpy", "dtype"),
        ("_codecs", "encode"),
    }

    def find_class(self, module, name):
        if (module, name) not in self.ALLOWED:
            raise pickle.UnpicklingError(f"{module}.{name} is not an array")
        return super().find_class(module, name)


def unpickled(file):
    with file.open("rb") as opened:
        return Arrays(opened).load()


def write(file, names, rows, labels=None):
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(names + ([] if labels is None else ["anomaly"]))
        for i, row in enumerate(rows):
            writer.writerow(list(row) + ([] if labels is None else [int(labels[i])]))


def skab(clone, out):
    for folder in ("valve1", "valve2", "other"):
        for file in sorted((clone / "data" / folder).glob("*.csv")):
            with file.open(newline="") as opened:
                head, *rows = csv.reader(opened, delimiter=";")
            label = head.index("anomaly")
            names = ["time"] + head[1:label]
            cells = [[row[0].replace(" ", "T") + "Z"] + row[1:label] for row in rows]
            labels = [float(row[label]) for row in rows]
            name = f"{folder}-{file.stem}"
            write(out / "SKAB" / f"{name}.train.csv", names, cells[:SKAB_TRAIN_ROWS])
            write(out / "SKAB" / f"{name}.test.csv", names, cells[SKAB_TRAIN_ROWS:], labels[SKAB_TRAIN_ROWS:])


def interfusion(clone, out):
    folder = clone / "data" / "processed"
    sets = {
        "ASD": (timedelta(minutes=5), [f"omi-{i}" for i in range(1, 13)]),
        "SMD": (timedelta(minutes=1), [f"machine-{server}" for server in SERVERS]),
        "SMD-others": (timedelta(minutes=1), [f"machine-{server}" for server in OTHER_SERVERS]),
    }
    for name, (step, series) in sets.items():
        for one in series:
            train = unpickled(folder / f"{one}_train.pkl")
            test = unpickled(folder / f"{one}_test.pkl")
            labels = unpickled(folder / f"{one}_test_label.pkl").reshape(-1)
            columns = ["time"] + [f"s{j}" for j in range(train.shape[1])]

            def timed(rows, first):
                for i, row in enumerate(rows):
                    yield [(BEGINS + (first + i) * step).isoformat().replace("+00:00", "Z")] + row.tolist()

            write(out / name / f"{one}.train.csv", columns, timed(train, 0))
            write(out / name / f"{one}.test.csv", columns, timed(test, len(train)), labels)


def turbofan(file, out):
    with file.open(newline="") as opened:
        rows = list(csv.DictReader(opened))
    names = [name for name in rows[0] if name not in ("engine", "cycle")]
    lives = {}
    for row in rows:
        lives[int(row["engine"])] = int(row["cycle"])
    # A cycle a minute, and an hour between two engines: what one leaves behind says nothing of the next.
    time = BEGINS
    parts = {"train": ([], []), "test": ([], [])}
    before = None
    for row in rows:
        engine, cycle = int(row["engine"]), int(row["cycle"])
        teaches = engine <= TEACHING_ENGINES
        if teaches and cycle > TEACHING_CYCLES:
            continue
        time += timedelta(minutes=1 if engine == before else 60)
        before = engine
        cells, labels = parts["train" if teaches else "test"]
        cells.append([time.isoformat().replace("+00:00", "Z")] + [row[name] for name in names])
        labels.append(lives[engine] - cycle < LAST_CYCLES)
    write(out / "turbofan" / "FD001.train.csv", ["time"] + names, parts["train"][0])
    write(out / "turbofan" / "FD001.test.csv", ["time"] + names, *parts["test"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--skab", type=Path)
    parser.add_argument("--interfusion", type=Path)
    parser.add_argument("--turbofan", type=Path)
    chosen = parser.parse_args()
    if chosen.skab:
        skab(chosen.skab, chosen.out)
    if chosen.interfusion:
        interfusion(chosen.interfusion, chosen.out)
    if chosen.turbofan:
        turbofan(chosen.turbofan, chosen.out)


main()
