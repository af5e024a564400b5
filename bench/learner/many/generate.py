"""Larger tables of kinds that public ones lack, made up: python3 generate.py FOLDER"""

import csv
import os
import sys

import numpy as np

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)


def smooth(random, rows, hours, width=1):
    """Series that forget half of their past in so many steps."""
    keep = 0.5 ** (1 / hours)
    steps = random.normal(size=(rows, width)) * np.sqrt(1 - keep * keep)
    out = np.empty((rows, width))
    last = random.normal(size=width)
    for row in range(rows):
        last = keep * last + steps[row]
        out[row] = last
    return out if width > 1 else out[:, 0]


def calendar(rows):
    day = np.arange(rows) // 24
    return day // 365 + 2010, day % 365 // 30.42 + 1, day % 365 % 30.42 // 1 + 1, np.arange(rows) % 24


def air(random, rows=41_757):
    """Hours of five years: what is in the air follows the weather and itself."""
    year, month, day, hour = calendar(rows)
    season = np.cos((np.arange(rows) / 24 % 365 - 20) / 365 * 2 * np.pi)
    front = smooth(random, rows, 40)
    temperature = 12 - 14 * season + 4 * np.sin((hour - 9) / 24 * 2 * np.pi) + 3 * front
    dew = temperature - 8 + 6 * smooth(random, rows, 20)
    pressure = 1016 + 9 * season - 4 * front + 2 * smooth(random, rows, 30)
    wind = smooth(random, rows, 15, 2)
    speed = np.exp(1.2 + 1.1 * smooth(random, rows, 8))
    level = 4 + 0.35 * season + 0.03 * (dew - temperature + 8) - 0.25 * np.log(speed) + 0.4 * wind[:, 0]
    level += 0.7 * smooth(random, rows, 18) + 0.1 * random.normal(size=rows)
    names = np.array(["NE", "NW", "SE", "cv"])[(wind[:, 0] > 0) * 2 + (wind[:, 1] > 0)]
    return dict(year=year, month=month, day=day, hour=hour, dew=dew.round(), temperature=temperature.round(),
                pressure=pressure.round(), wind=names, speed=speed.round(2), target=np.exp(level).round())


def market(random, rows=45_312):
    """Half-hours of two markets: is the price above its mean of the day before?"""
    period, day = np.arange(rows) % 48 / 47, np.arange(rows) // 48 % 7
    common = smooth(random, rows, 60)
    load = np.sin((period - 0.3) * 2 * np.pi) + 0.5 * (day < 5) + 0.5 * smooth(random, rows, 30)
    other = 0.7 * load + 0.5 * smooth(random, rows, 30)
    price = np.exp(0.5 * load + 0.6 * common + 0.25 * smooth(random, rows, 6))
    price_there = np.exp(0.5 * other + 0.5 * common + 0.3 * smooth(random, rows, 6))
    flow = other - load + 0.3 * smooth(random, rows, 20)
    before = np.convolve(price, np.ones(48) / 48)[:rows]
    up = np.where(price > np.roll(before, 1), "up", "down")
    return dict(date=np.arange(rows) / rows, day=day, period=period, load=load.round(3), price=price_there.round(3),
                load_there=other.round(3), flow=flow.round(3), target=up)


def eyes(random, rows=14_980):
    """Sensors that drift, and a state that lasts."""
    changes = np.cumsum(random.exponential(400, size=60)).astype(int)
    state = np.searchsorted(changes, np.arange(rows)) % 2
    drift = smooth(random, rows, 150, 14)
    noise = smooth(random, rows, 4, 14)
    shift = random.normal(size=14) * 0.4
    out = {f"sensor{i}": (4300 + 20 * (drift[:, i] + 0.35 * noise[:, i] + shift[i] * state)).round(2) for i in range(14)}
    return dict(out, target=np.where(state == 1, "closed", "open"))


def decoys(random, rows=36_000):
    """Groups of nearly equal rows, whose target no formula of few columns tells."""
    groups = 600
    of = random.randint(groups, size=rows)
    centre = random.normal(size=(groups, 9))
    own = random.gamma(2, 3, size=groups)
    apart = random.gamma(2, 0.12, size=rows)
    columns = centre[of] + apart[:, None] * random.normal(size=(rows, 9)) * np.linspace(0.4, 1.2, 9)
    target = np.abs(own[of] + 6 * apart * columns[:, 0] + 4 * apart * np.sin(2 * columns[:, 1]) + 0.4 * random.normal(size=rows))
    out = {f"f{i}": columns[:, i].round(4) for i in range(9)}
    return dict(out, target=target.round(3))


def turbine(random, rows=30_000):
    """A formula of eight numbers, with little noise."""
    x = random.uniform(size=(rows, 8))
    pressure, inlet, flow, angle = 1 + 3 * x[:, 0], 280 + 40 * x[:, 1], 1 + x[:, 2], x[:, 3] * np.pi / 2
    power = flow * inlet * (pressure ** 0.286 - 1) * (0.8 + 0.15 * np.sin(angle * 2 + x[:, 4]))
    power += 30 * np.cos(3 * x[:, 5] + 2 * x[:, 6]) * np.sqrt(0.2 + x[:, 7])
    out = {f"x{i}": x[:, i].round(5) for i in range(8)}
    return dict(out, target=(power + 1.5 * random.normal(size=rows)).round(3))


def rules(random, rows=24_000):
    """Rules on categories and numbers, next to no noise."""
    a, b, c, d, e, f = (random.randint(k, size=rows) for k in (3, 5, 4, 4, 3, 6))
    x, y, z = random.gamma(2, 1, rows).round(2), random.normal(size=rows).round(2), random.uniform(0, 10, rows).round(1)
    grade = (a + (b > 2) * 2 + (c == 3) - (d == 0)) * 1.0 + (x > 2.35) * 2 - (y < -0.4) * (e == 1) + (z > 7.2) * (f > 3)
    target = np.where((a == 0) & (z < 1.5), 0, np.clip(grade - 1, 0, 4)).astype(int)
    target = np.where(random.uniform(size=rows) < 0.001, random.randint(5, size=rows), target)
    name = lambda letter, values: [f"{letter}{v}" for v in values]
    return dict(a=name("a", a), b=name("b", b), c=name("c", c), d=name("d", d), e=name("e", e), f=name("f", f),
                x=x, y=y, z=z, target=name("k", target))


def shops(random, rows=30_000):
    """Categories of very many levels, each with an effect of its own."""
    effects = [random.normal(size=k) * s for k, s in ((3000, 0.9), (400, 0.6), (25, 0.5))]
    levels = [(len(effect) * random.uniform(size=rows) ** 2).astype(int) for effect in effects]
    x = random.normal(size=(rows, 5))
    score = sum(effect[level] for effect, level in zip(effects, levels))
    score += 0.8 * x[:, 0] + np.sin(2 * x[:, 1]) * (levels[2] % 2) + 0.5 * np.abs(x[:, 2]) - 0.4
    bought = random.uniform(size=rows) < 1 / (1 + np.exp(-score))
    out = {f"x{i}": x[:, i].round(3) for i in range(5)}
    codes = {n: [f"{n}{v}" for v in level] for n, level in zip(("customer", "shop", "region"), levels)}
    return dict(codes, **out, target=np.where(bought, "yes", "no"))


def lives(random, rows=24_000):
    """Countries over years."""
    country, year = random.randint(190, size=rows), random.randint(1960, 2022, size=rows)
    at, slope = random.normal(66, 8, 190), random.gamma(4, 0.06, 190)
    bend = smooth(random, 62, 6, 190).cumsum(axis=0) * 0.25
    income = random.normal(8, 1.2, 190)
    log_income = income[country] + 0.02 * (year - 1990) + 0.15 * random.normal(size=rows)
    region = np.array([f"r{v}" for v in range(7)])[country % 7]
    target = at[country] + slope[country] * (year - 1990) + bend[year - 1960, country] + 2.2 * (log_income - 8)
    missing = random.uniform(size=rows) < 0.2
    given = [("" if m else round(float(np.exp(v)), 1)) for m, v in zip(missing, log_income)]
    return dict(country=[f"c{v}" for v in country], year=year, region=region, income=given,
                target=(target + 0.4 * random.normal(size=rows)).round(2))


for number, make in enumerate((air, market, eyes, decoys, turbine, rules, shops, lives)):
    table = make(np.random.RandomState(number))
    with open(os.path.join(folder, f"{make.__name__}.csv"), "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(table)
        out.writerows(zip(*(np.asarray(column).tolist() if not isinstance(column, list) else column for column in table.values())))
