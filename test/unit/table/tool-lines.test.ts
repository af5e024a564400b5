import { strict as assert } from 'node:assert';

import { profileTable, readRows } from '../../../dist/src/program-table';
import { openTable } from '../../../dist/src/table';

async function read(
  text: string,
): Promise<{ names: readonly string[]; rows: unknown[][]; warnings: string }> {
  const source = await openTable(text);
  const { warnings } = await profileTable(source);
  const rows = await readRows(source);
  return { names: source.names, rows: rows.map((row) => Object.values(row)), warnings: warnings.join(' | ') };
}

const OF_UNITS = /^The line under the header \(".*"\) names units: it is left out as no row\.$/;

describe('Lines that devices and tools write beside rows', () => {
  it('end and count the rows of SIMATIC HMI: left out, said once', async () => {
    const csv = await read('Record,Temp\r\n1,21.5\r\n2,22.5\r\n//END\r\n');
    assert.deepEqual(csv.rows, [
      [1, 21.5],
      [2, 22.5],
    ]);
    assert.equal(csv.warnings, 'A line that a tool has written below the rows ("//END") is left out.');
    const wincc = await read('"Var";"Value"\r\n"T";21,5\r\n"$RT_COUNT$";1\r\n//END\r\n');
    assert.deepEqual(wincc.rows, [['T', 21.5]]);
    const own = await read('path,n\n//ENDING,1\n//END,2\n');
    assert.deepEqual(own.rows, [
      ['//ENDING', 1],
      ['//END', 2],
    ]);
  });

  for (const [name, text, rows] of [
    [
      'Rigol',
      'X,CH1,Start,Increment,\r\nSequence,Volt,-1.2e-02,2e-05\r\n0,0.5,,\r\n1,0.6,,\r\n2,0.7,,\r\n',
      [
        [0, 0.5, null, null],
        [1, 0.6, null, null],
        [2, 0.7, null, null],
      ],
    ],
    [
      'Keysight',
      'x-axis,a\r\nsecond,Volt\r\n-1.0E-03,0.01\r\n-0.9E-03,0.02\r\n',
      [
        [-0.001, 0.01],
        [-0.0009, 0.02],
      ],
    ],
    [
      'a logger with times',
      'time;T;H\n;°C;%\n2026-01-01 00:00;21,5;40,2\n2026-01-01 00:10;21,6;40,3\n',
      [
        ['2026-01-01T00:00:00.000Z', 21.5, 40.2],
        ['2026-01-01T00:10:00.000Z', 21.6, 40.3],
      ],
    ],
  ] as const) {
    it(`name units under the header: ${name}`, async () => {
      const found = await read(text);
      assert.deepEqual(JSON.parse(JSON.stringify(found.rows)), rows);
      assert.match(found.warnings, OF_UNITS);
    });
  }

  it('are rows where a column of numbers has no unit, or no column is of numbers', async () => {
    assert.equal((await read('a,b\nV,x\n1,2\n3,4\n')).rows.length, 3);
    assert.equal((await read('a,b\nV,s\nA,m\nW,h\n')).rows.length, 3);
    assert.equal((await read('a,b\n-,NA\n1,2\n3,4\n')).rows.length, 3);
  });

  it('are dashes under a header, and a count of rows below: sqlcmd', async () => {
    const rows = [
      [1, 'abc', 21.5],
      [2, 'def', 22.5],
    ];
    const csv = await read('id,name,v\r\n--,----,-\r\n1,abc,21.5\r\n2,def,22.5\r\n\r\n(2 rows affected)\r\n');
    assert.deepEqual(csv.rows, rows);
    assert.match(csv.warnings, /\("\(2 rows affected\)"\) is left out\.$/);
    const wide = await read(
      'id          name       v\n----------- ---------- -----\n          1 abc         21.5\n          2 def         22.5\n\n(2 rows affected)\n',
    );
    assert.deepEqual([wide.names, wide.rows], [['id', 'name', 'v'], rows]);
    assert.equal((await read('a,b\n-,-\n1,2\n')).rows.length, 2);
    assert.equal((await read('a,b\n1,2\n(2 rows affected),x\n')).rows.length, 2);
  });

  it('tell of the file: DATEV, and Campbell Scientific with its two lines of units', async () => {
    const datev = await read(
      '"EXTF";700;21;"Buchungsstapel";13\r\n"Umsatz";"Kennzeichen";"Konto"\r\n123,45;"S";1200\r\n67,89;"H";1400\r\n',
    );
    assert.deepEqual(datev.names, ['Umsatz', 'Kennzeichen', 'Konto']);
    assert.deepEqual(datev.rows, [
      [123.45, 'S', 1200],
      [67.89, 'H', 1400],
    ]);
    assert.match(
      datev.warnings,
      /^The first line \(.*EXTF.*\) tells of the file: line 2 names the columns\.$/,
    );
    const same = await read('EXTF;700\r\nUmsatz;Konto\r\n1,5;1200\r\n2,5;1400\r\n');
    assert.deepEqual(same.names, ['Umsatz', 'Konto']);
    const toa5 = await read(
      '"TOA5","CR1000","CR1000","1"\r\n"RECORD","BattV","AirT"\r\n"RN","Volts","Deg C"\r\n"","Avg","Smp"\r\n0,12.5,21.5\r\n1,12.6,"NAN"\r\n',
    );
    assert.deepEqual(toa5.rows, [
      [0, 12.5, 21.5],
      [1, 12.6, null],
    ]);
  });

  it('name the plot above a header with commas in quotes: HOBOware', async () => {
    const found = await read(
      '"Plot Title: site1"\r\n"#","Date Time, GMT-05:00","Temp, °F (LGR S/N: 1, SEN S/N: 1)","Host Connected (LGR S/N: 1)"\r\n1,05/13/13 12:00:00 PM,71.5,\r\n2,05/13/13 01:00:00 PM,72.1,\r\n3,05/13/13 02:00:00 PM,,Logged\r\n',
    );
    assert.equal(found.names[1], 'Date Time, GMT-05:00');
    assert.deepEqual(
      found.rows.map((row) => row[2]),
      [71.5, 72.1, null],
    );
    assert.match(found.warnings, /Plot Title: site1.*line 2 names its columns/);
  });

  for (const [name, text, names, row] of [
    [
      'pandas, columns of two levels',
      ',a,a,b\n,q,r,s\n,,,\none,1,2,3\ntwo,4,5,6\n',
      ['Unnamed: 0', 'a q', 'a r', 'b s'],
      ['two', 4, 5, 6],
    ],
    ['without a name for the rows', 'a,a,b\nq,r,s\n1,2,3\n4,5,6\n', ['a q', 'a r', 'b s'], [4, 5, 6]],
    [
      'cells that were merged',
      'Date,Sensor A,,Sensor B,\n,Temp,Hum,Temp,Hum\n2026-01-01,21,40,22,41\n2026-01-02,22,41,23,42\n',
      ['Date', 'Sensor A Temp', 'Sensor A Hum', 'Sensor B Temp', 'Sensor B Hum'],
      ['2026-01-02T00:00:00.000Z', 22, 41, 23, 42],
    ],
    [
      'SMA, of two inverters',
      'sep=;\nVersion CSV1|Tool SBFspot3.9|Delimiter semicolon|Decimalpoint comma|Precision 3\n\n;SN: 21;SN: 21;SN: 22;SN: 22\n;SB 5000TL;SB 5000TL;SB 5000TL;SB 5000TL\n;2100000000;2100000000;2200000000;2200000000\n;Total yield;Power;Total yield;Power\n;Counter;Analog;Counter;Analog\ndd/MM/yyyy HH:mm:ss;kWh;kW;kWh;kW\n18/06/2020 05:00:00;1234,500;0,000;1;2\n18/06/2020 05:05:00;1234,501;0,012;3;4\n',
      [
        'dd/MM/yyyy HH:mm:ss',
        'SN: 21 Total yield Counter kWh',
        'SN: 21 Power Analog kW',
        'SN: 22 Total yield Counter kWh',
        'SN: 22 Power Analog kW',
      ],
      ['2020-06-18T05:05:00.000Z', 1234.501, 0.012, 3, 4],
    ],
  ] as const) {
    it(`name the columns together, said once: ${name}`, async () => {
      const found = await read(text);
      assert.deepEqual(found.names, names);
      assert.deepEqual(JSON.parse(JSON.stringify(found.rows.at(-1))), row);
      assert.match(found.warnings, /\d lines name the columns together: ".*" is the last of them\./);
    });
  }

  it('name the columns by themselves where the line below may be a row', async () => {
    assert.equal((await read('a,a,b\nx,y,z\nu,v,w\n')).rows.length, 2);
    assert.equal((await read('a,a,b\nx,1,z\nu,2,w\n')).rows.length, 2);
    assert.equal((await read('a,b,c\nx,y,z\n1,2,3\n4,5,6\n')).rows.length, 3);
  });

  it('stand beside values that no line names: refused', async () => {
    await assert.rejects(
      openTable(
        'Record Length,2.50E+03,,-0.00000033,0.0056\nSample Interval,1.00E-09,,-0.000000329,0.0056\n,,,-0.000000327,0.0056\n',
      ),
      { code: 'table.invalid', message: /oscilloscope/ },
    );
  });

  it('are settings above a header of numbers: Tektronix', async () => {
    const found = await read(
      'Model,TBS1102\r\nFirmware Version,1.0\r\nHorizontal Units,s\r\nSample Interval,4e-06\r\nTIME,CH1\r\n-0.005,0.04\r\n-0.0049,0.08\r\n-0.0048,0.04\r\n',
    );
    assert.deepEqual(found.names, ['TIME', 'CH1']);
    assert.deepEqual(found.rows[0], [-0.005, 0.04]);
    assert.match(found.warnings, /^The first 4 lines \("Model,TBS1102", …\) are left out/);
    const words = await read('a,b\nx,y\nu,v\n1,2\n3,4\n5,6\n');
    assert.deepEqual(words.names, ['a', 'b']);
  });
});

describe('Spaces before a quote', () => {
  it('are left off where all rows are read so', async () => {
    const found = await read('"name", "size" , "note"\n"a", 1, "x, y"\n"b" , 2, "z ""q"""\n');
    assert.deepEqual(found.names, ['name', 'size', 'note']);
    assert.deepEqual(found.rows, [
      ['a', 1, 'x, y'],
      ['b', 2, 'z "q"'],
    ]);
  });

  it('stay where a quote is part of the text', async () => {
    assert.deepEqual((await read('a,b\nx, "y" z\nu, v\n')).rows[0], ['x', '"y" z']);
  });

  it('are the format under the header of water data of the USGS: left out, so that its columns keep their types', async () => {
    const rdb = [
      '# Some of the data that you have obtained may not have received approval.',
      'agency_cd\tsite_no\tdatetime\t69928_00060\t69928_00060_cd',
      '5s\t15s\t20d\t14n\t10s',
      'USGS\t09380000\t2023-06-01 00:00\t14900\tP',
      'USGS\t09380000\t2023-06-01 00:15\t14800\tP',
    ].join('\n');
    const csv = await read(`${rdb}\n`);
    assert.deepEqual(
      csv.rows.map((row) => row[3]),
      [14900, 14800],
    );
    assert.match(csv.warnings, OF_UNITS);
  });

  it('may lack: rows of a logger without a header are refused, also where most of the first are nan', async () => {
    const rows = '1553424480,nan,14.4,nan,nan,nan,0\n1553424540,nan,12.35,nan,nan,nan,0\n';
    await assert.rejects(read(rows), /The first line \("1553424480", "nan", .*\) looks like values/);
  });
});
