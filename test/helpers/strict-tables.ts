/* Reading what was uploaded, for the strict service: CRC32C, CSV and Parquet, independent of src/. */

export type Row = Record<string, unknown>;

export interface Table {
  columns: string[];
  rows: Row[];
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k += 1) {
    c = c & 1 ? (c >>> 1) ^ 0x82f63b78 : c >>> 1;
  }
  return c >>> 0;
});

/** CRC32C (Castagnoli), 4 bytes big-endian in base64: `123456789` → `4waSgw==`. */
export function crc32cBase64(bytes: Uint8Array): string {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc = (crc >>> 8) ^ CRC_TABLE[(crc ^ byte) & 0xff]!;
  }
  const out = Buffer.alloc(4);
  out.writeUInt32BE((crc ^ 0xffffffff) >>> 0);
  return out.toString('base64');
}

/** The table that a file holds. Numbers of CSV and 64-bit integers of Parquet become JavaScript numbers. */
export async function decodeTable(bytes: Buffer, format: 'csv' | 'parquet'): Promise<Table> {
  return format === 'csv' ? decodeCsv(bytes.toString('utf8')) : decodeParquet(bytes);
}

function decodeCsv(text: string): Table {
  const [header, ...records] = csvRecords(text);
  const columns = header ?? [];
  const rows = records.map((record) => {
    if (record.length !== columns.length) {
      throw new Error(`a row has ${record.length} fields`);
    }
    const row = Object.create(null) as Row;
    columns.forEach((name, i) => (row[name] = csvValue(record[i]!)));
    return row;
  });
  return { columns, rows };
}

function csvValue(text: string): unknown {
  if (text === '') {
    return null;
  }
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(text) ? Number(text) : text;
}

function csvRecords(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let field = '';
  let quoted = false;
  const endField = () => {
    record.push(field);
    field = '';
  };
  for (let i = 0; i < text.length; i += 1) {
    const c = text[i]!;
    if (quoted) {
      if (c !== '"') {
        field += c;
      } else if (text[i + 1] === '"') {
        field += '"';
        i += 1;
      } else {
        quoted = false;
      }
    } else if (c === '"' && field === '') {
      quoted = true;
    } else if (c === ',') {
      endField();
    } else if (c === '\n') {
      endField();
      records.push(record);
      record = [];
    } else if (c !== '\r') {
      field += c;
    }
  }
  if (field !== '' || record.length > 0) {
    endField();
    records.push(record);
  }
  return records;
}

async function decodeParquet(bytes: Buffer): Promise<Table> {
  const { parquetMetadata, parquetReadObjects } = await import('hyparquet');
  const { compressors } = await import('hyparquet-compressors');
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  const columns = parquetMetadata(file)
    .schema.slice(1)
    .map((element) => element.name);
  const rows = (await parquetReadObjects({ file, compressors })) as Row[];
  return { columns, rows: rows.map(plainRow) };
}

function plainRow(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
  );
}
