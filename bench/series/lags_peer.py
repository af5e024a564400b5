"""scikit-learn's histogram boosting as it is used for series: a model for each step, with lags and the calendar.

Reads JSON on standard input: {values, border, day, steps, origins}, `day` in steps of the series. Writes a forecast for
each origin and step.
"""

import json
import sys

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

given = json.load(sys.stdin)
values = np.array(given["values"], dtype=float)
day, border = given["day"], given["border"]
origins = np.array(given["origins"])
hour = max(1, day // 24)


def columns(at, step):
    """The last day by hours, the same time a day and a week before, hour and weekday of the time predicted for."""
    lags = [values[at - lag * hour] for lag in range(24)]
    then = at + step
    return np.column_stack(lags + [values[then - day], values[then - 7 * day], then % day, (then // day) % 7])


forecasts = []
for step in given["steps"]:
    rows = np.arange(7 * day, border - step)
    model = HistGradientBoostingRegressor(random_state=0)
    model.fit(columns(rows, step), values[rows + step])
    forecasts.append(model.predict(columns(origins, step)).tolist())
json.dump(np.array(forecasts).T.tolist(), sys.stdout)
