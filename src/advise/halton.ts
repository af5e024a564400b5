/**
 * Points that fill the unit cube evenly from the first on: the Halton sequence, its digits permuted at random so that
 * high dimensions do not go along with each other (A. B. Owen, "A randomized Halton algorithm in R", 2017,
 * arXiv:1706.02808).
 *
 * @param random numbers from 0 to 1; the same ones give the same points
 * @returns [dimension][point]
 */
export function haltonPoints(count: number, dimensions: number, random: () => number): Float64Array[] {
  return firstPrimes(dimensions).map((base) => {
    const places = new Float64Array(count);
    let scale = 1;
    for (let power = 1; power < count; power *= base) {
      scale /= base;
      const digits = shuffled(base, random);
      for (let point = 0; point < count; point++) {
        places[point]! += digits[Math.floor(point / power) % base]! * scale;
      }
    }
    // What further digits would add: they are all random by now.
    return places.map((place) => place + random() * scale);
  });
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate++) {
    if (primes.every((prime) => candidate % prime !== 0)) {
      primes.push(candidate);
    }
  }
  return primes;
}

function shuffled(count: number, random: () => number): number[] {
  const numbers = Array.from({ length: count }, (_, at) => at);
  for (let at = count - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [numbers[at], numbers[other]] = [numbers[other]!, numbers[at]!];
  }
  return numbers;
}
