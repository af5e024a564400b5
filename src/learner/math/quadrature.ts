/** Nodes and weights of Gauss-Legendre quadrature on [0, 1]. */
interface Quadrature {
  nodes: Float64Array;
  weights: Float64Array;
}

const quadratures: Quadrature[] = [{ nodes: new Float64Array(0), weights: new Float64Array(0) }];

/** Exact for polynomials of degree 2 · count - 1. */
export function findQuadrature(count: number): Quadrature {
  for (let order = quadratures.length; order <= count; order++) {
    // The nodes of each order interlace with those of the order before.
    const borders = [0, ...quadratures[order - 1].nodes, 1];
    const nodes = Float64Array.from({ length: order }, (_, i) =>
      rootBetween(order, borders[i], borders[i + 1]),
    );
    const weights = nodes.map((node) => {
      const x = 2 * node - 1;
      const { value, before } = legendre(order, x);
      const slope = (order * (x * value - before)) / (x * x - 1);
      return 1 / ((1 - x * x) * slope * slope);
    });
    quadratures.push({ nodes, weights });
  }
  return quadratures[count];
}

/** The Legendre polynomials of this order and the one before. */
function legendre(order: number, x: number): { value: number; before: number } {
  let before = 1;
  let value = x;
  for (let n = 1; n < order; n++) {
    [before, value] = [value, ((2 * n + 1) * x * value - n * before) / (n + 1)];
  }
  return { value, before };
}

function rootBetween(order: number, low: number, high: number): number {
  const isPositive = (at: number) => legendre(order, 2 * at - 1).value > 0;
  const above = isPositive(high);
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (isPositive(middle) === above) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return (low + high) / 2;
}
