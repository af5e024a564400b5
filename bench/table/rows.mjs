/** The columns of the bench table: name and type. */
export const COLUMNS = [
  ...Array.from({ length: 8 }, (_, i) => ({ name: `measure_${i}`, type: 'number' })),
  ...Array.from({ length: 4 }, (_, i) => ({ name: `count_${i}`, type: 'integer' })),
  { name: 'active', type: 'boolean' },
  { name: 'night', type: 'boolean' },
  { name: 'at', type: 'date' },
  { name: 'site', type: 'text' },
  { name: 'state', type: 'text' },
  { name: 'operator', type: 'text' },
  { name: 'serial', type: 'text' },
  { name: 'note', type: 'text' },
  { name: 'gap', type: 'number' },
];

const SITES = ['Basel', 'Zürich', 'Genève', 'Bern', 'Lugano'];
const STATES = ['ok', 'warm', 'hot', 'stopped'];

/** Rows as objects, the same ones each time. */
export function makeRows(count) {
  let seed = 42;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const start = Date.UTC(2024, 0, 1);
  const rows = new Array(count);
  for (let i = 0; i < count; i++) {
    const row = {};
    for (let m = 0; m < 8; m++) {
      row[`measure_${m}`] = random() * 1000;
    }
    for (let c = 0; c < 4; c++) {
      row[`count_${c}`] = Math.floor(random() * 10 ** (c + 1));
    }
    row.active = random() > 0.5;
    row.night = random() > 0.7;
    row.at = new Date(start + i * 1000);
    row.site = SITES[i % SITES.length];
    row.state = STATES[Math.floor(random() * 4)];
    row.operator = `operator ${Math.floor(random() * 200)}`;
    row.serial = `SN-${(i * 7919) % 1_000_000}`;
    row.note = `reading ${i} of shift ${i % 3}`;
    row.gap = random() < 0.05 ? null : random();
    rows[i] = row;
  }
  return rows;
}
