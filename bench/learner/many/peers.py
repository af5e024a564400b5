"""Single models of scikit-learn and XGBoost, with usual settings.

Reads a split per line on standard input as JSON, answers each with a line: {model: {seconds, mean | probas}}.
In: {task, count, kinds, train: {columns, target}, test: {columns}}; numbers with null for missing, text as codes
with -1. TUNED=1 in the environment: XGBoost with tuned settings too. MODELS=hist,extra: these alone. TREES=100: of
random forests and extra trees.
"""

import json
import os
import sys
import time
import warnings

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from sklearn import ensemble, gaussian_process, linear_model
from sklearn.compose import ColumnTransformer
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, Matern, WhiteKernel
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

try:
    import xgboost
except ImportError:
    xgboost = None

warnings.filterwarnings("ignore")
GP_ROWS = int(os.environ.get("GP_ROWS", "600"))
TREES = int(os.environ.get("TREES", "200"))
MODELS = os.environ.get("MODELS", "").split(",")


def matrix(given, part):
    columns = []
    for kind, column in zip(given["kinds"], part["columns"]):
        values = np.array([np.nan if v is None else v for v in column], dtype=float)
        if kind == "text":
            values[values < 0] = np.nan
        columns.append(values)
    return np.column_stack(columns)


def one_hot(given, scaled):
    numbers = [i for i, kind in enumerate(given["kinds"]) if kind != "text"]
    text = [i for i, kind in enumerate(given["kinds"]) if kind == "text"]
    median = SimpleImputer(strategy="median", add_indicator=scaled)
    hot = OneHotEncoder(handle_unknown="ignore", min_frequency=2, sparse_output=False)
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(median, StandardScaler()) if scaled else median, numbers),
            ("text", make_pipeline(SimpleImputer(strategy="constant", fill_value=-1), hot), text),
        ]
    )


def few_categories(given, X, T):
    """Histogram boosting takes at most 255 categories a column, numbered from 0; the rarer ones count as missing."""
    H, HT = X.copy(), T.copy()
    text = [i for i, kind in enumerate(given["kinds"]) if kind == "text"]
    for i in text:
        known, counts = np.unique(X[~np.isnan(X[:, i]), i], return_counts=True)
        number = {code: place for place, code in enumerate(known[np.argsort(-counts)][:250])}
        for M in (H, HT):
            M[:, i] = [number.get(v, np.nan) for v in M[:, i]]
    return H, HT, text


class Boosted:
    """XGBoost with early stopping on 15 % of the rows."""

    def __init__(self, regression):
        kind = xgboost.XGBRegressor if regression else xgboost.XGBClassifier
        self.stratify = not regression
        self.model = kind(n_estimators=1000, learning_rate=0.08, max_depth=6, subsample=0.9, colsample_bytree=0.9,
                          early_stopping_rounds=40, n_jobs=1, tree_method="hist")

    def fit(self, X, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        target = codes if self.stratify else y
        common = self.stratify and np.bincount(codes).min() > 1
        A, B, a, b = train_test_split(X, target, test_size=max(0.15, len(self.classes_) / len(y) if self.stratify else 0),
                                      random_state=0, stratify=target if common else None)
        self.model.fit(A, a, eval_set=[(B, b)], verbose=False)

    def predict(self, X):
        return self.model.predict(X)

    def predict_proba(self, X):
        return self.model.predict_proba(X)


class Tuned:
    """XGBoost with the best of 20 settings drawn at random, by five folds; the first setting is the usual one."""

    def __init__(self, regression):
        self.regression = regression
        self.kind = xgboost.XGBRegressor if regression else xgboost.XGBClassifier

    def settings(self):
        random = np.random.RandomState(0)
        yield dict(n_estimators=100, learning_rate=0.1, max_depth=6)
        for _ in range(19):
            yield dict(
                n_estimators=int(random.choice([50, 100, 200, 400, 800])),
                learning_rate=float(np.exp(random.uniform(np.log(0.01), np.log(0.3)))),
                max_depth=int(random.randint(1, 9)),
                min_child_weight=float(np.exp(random.uniform(0, np.log(20)))),
                subsample=float(random.uniform(0.5, 1)),
                colsample_bytree=float(random.uniform(0.4, 1)),
                reg_lambda=float(np.exp(random.uniform(np.log(0.1), np.log(10)))),
            )

    def model_of(self, setting):
        return self.kind(**setting, n_jobs=1, tree_method="hist")

    def loss(self, setting, X, target, folds):
        total = 0
        for train, test in folds:
            # A fold may lack a class, and XGBoost takes only classes from 0 on without a gap.
            known, codes = np.unique(target[train], return_inverse=True)
            model = self.model_of(setting).fit(X[train], target[train] if self.regression else codes)
            if self.regression:
                total += np.mean((model.predict(X[test]) - target[test]) ** 2)
            else:
                probas = np.full((len(test), int(target.max()) + 1), 1e-15)
                probas[:, known] = model.predict_proba(X[test])
                total -= np.mean(np.log(np.maximum(1e-15, probas[np.arange(len(test)), target[test]])))
        return total

    def fit(self, X, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        target = y if self.regression else codes
        common = not self.regression and np.bincount(codes).min() >= 5
        splitter = (StratifiedKFold if common else KFold)(5, shuffle=True, random_state=0)
        folds = list(splitter.split(X, target))
        best = min(self.settings(), key=lambda setting: self.loss(setting, X, target, folds))
        self.model = self.model_of(best).fit(X, target)

    def predict(self, X):
        return self.model.predict(X)

    def predict_proba(self, X):
        return self.model.predict_proba(X)


def models(given, X, y):
    """Name, preprocessing, model."""
    regression = given["task"] == "regression"
    text = [i for i, kind in enumerate(given["kinds"]) if kind == "text"]
    of = lambda name: getattr(ensemble, name + ("Regressor" if regression else "Classifier"))
    yield "hist", None, of("HistGradientBoosting")(categorical_features=text or None, random_state=0)
    yield "forest", one_hot(given, False), of("RandomForest")(n_estimators=TREES, random_state=0)
    yield "extra", one_hot(given, False), of("ExtraTrees")(n_estimators=TREES, random_state=0)
    yield "linear", one_hot(given, True), (
        linear_model.RidgeCV(alphas=np.logspace(-3, 3, 13)) if regression else linear_model.LogisticRegression(max_iter=300)
    )
    if xgboost is not None:
        yield "xgb", one_hot(given, False), Boosted(regression)
        if os.environ.get("TUNED"):
            yield "tuned", one_hot(given, False), Tuned(regression)
    if regression and len(y) <= GP_ROWS and X.shape[1] <= 30:
        kernel = ConstantKernel() * Matern(np.ones(one_hot(given, True).fit_transform(X).shape[1]), nu=2.5) + DotProduct() + WhiteKernel(0.1)
        yield "gp", one_hot(given, True), gaussian_process.GaussianProcessRegressor(kernel, normalize_y=True)


for line in sys.stdin:
    given = json.loads(line)
    X, T = matrix(given, given["train"]), matrix(given, given["test"])
    y = np.array(given["train"]["target"])
    answer = {}
    for name, prepare, model in models(given, X, y):
        if MODELS != [""] and name not in MODELS:
            continue
        started = time.process_time()
        try:
            if prepare is None:
                A, B, _ = few_categories(given, X, T)
            else:
                A, B = prepare.fit_transform(X), prepare.transform(T)
            model.fit(A, y)
            if given["task"] == "regression":
                found = {"mean": model.predict(B).tolist()}
            else:
                probas = np.zeros((len(T), given["count"]))
                probas[:, model.classes_.astype(int)] = model.predict_proba(B)
                found = {"probas": probas.ravel().tolist()}
            answer[name] = {"seconds": time.process_time() - started, **found}
        except Exception as error:
            answer[name] = {"error": str(error).splitlines()[0][:200]}
    print(json.dumps(answer), flush=True)
