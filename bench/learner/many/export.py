"""The tables that come with scikit-learn as CSV files: python3 export.py FOLDER"""

import csv
import os
import sys

from sklearn import datasets

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
for name, load, classes in (
    ("wine", datasets.load_wine, True),
    ("diabetes", datasets.load_diabetes, False),
    ("tumours", datasets.load_breast_cancer, True),
    ("digits", datasets.load_digits, True),
    ("iris", datasets.load_iris, True),
):
    table = load()
    with open(os.path.join(folder, f"{name}.csv"), "w", newline="") as file:
        out = csv.writer(file)
        out.writerow([f"x{i}" for i in range(table.data.shape[1])] + ["target"])
        for row, target in zip(table.data.tolist(), table.target.tolist()):
            out.writerow(row + [f"k{target}" if classes else target])
