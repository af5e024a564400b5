"""scikit-learn on one split. Reads JSON on standard input, writes JSON: per model its predictions and fit seconds.

In: {task, count, kinds, train: {columns, target}, test: {columns}}; numbers with null for missing, text as codes with -1.
With times: {fits, predictions} only histogram boosting: its predictions, the lowest seconds of a fit and of a prediction.
"""

import json
import sys
import time

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

given = json.load(sys.stdin)
text = [i for i, kind in enumerate(given["kinds"]) if kind == "text"]
numbers = [i for i, kind in enumerate(given["kinds"]) if kind != "text"]


def matrix(part):
    columns = [np.array([np.nan if v is None else v for v in column], dtype=float) for column in part["columns"]]
    for i in text:
        columns[i][columns[i] < 0] = np.nan
    return np.column_stack(columns)


X, T = matrix(given["train"]), matrix(given["test"])
y = np.array(given["train"]["target"])
regression = given["task"] == "regression"

# Histogram boosting takes at most 255 categories a column, numbered from 0; the rarer ones count as missing.
H, HT = X.copy(), T.copy()
for i in text:
    known, counts = np.unique(X[~np.isnan(X[:, i]), i], return_counts=True)
    kept = known[np.argsort(-counts)][:250]
    number = {code: place for place, code in enumerate(kept)}
    for M in (H, HT):
        M[:, i] = [number.get(v, np.nan) for v in M[:, i]]

boost = (HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier)(
    categorical_features=text or None, random_state=0
)
one_hot = make_pipeline(
    SimpleImputer(strategy="constant", fill_value=-1), OneHotEncoder(handle_unknown="ignore", min_frequency=2, sparse_output=False)
)
forest = make_pipeline(
    ColumnTransformer([("numbers", SimpleImputer(strategy="median"), numbers), ("text", one_hot, text)]),
    (RandomForestRegressor if regression else RandomForestClassifier)(n_estimators=300, random_state=0),
)



def predictions(model, rows):
    if regression:
        return {"mean": model.predict(rows).tolist()}
    probas = np.zeros((len(rows), given["count"]))
    probas[:, model.classes_.astype(int)] = model.predict_proba(rows)
    return {"probas": probas.ravel().tolist()}


def lowest(times, work):
    taken = []
    for _ in range(times):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return min(taken)


if given.get("times"):
    boost.fit(H, y)
    fit = lowest(given["times"]["fits"], lambda: boost.fit(H, y))
    answer = {
        "fit": fit,
        "predict": lowest(given["times"]["predictions"], lambda: (boost.predict if regression else boost.predict_proba)(HT)),
        **predictions(boost, HT),
    }
else:
    answer = {}
    for name, model, train, test in (("hist", boost, H, HT), ("forest", forest, X, T)):
        seconds = lowest(1, lambda: model.fit(train, y))
        answer[name] = {"seconds": seconds, **predictions(model, test)}
json.dump(answer, sys.stdout)
