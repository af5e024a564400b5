// Parts off a press: the defect is known for the first 400, and asked for the other 100.
const header = 'part,press,mould_c,pressure_bar,operator';
const lines = { known: [`${header},defect`], new: [header] };
for (let i = 0; i < 500; i++) {
  const press = ['A', 'B', 'C'][i % 3];
  const mould = 60 + ((i * 37) % 400) / 10;
  const pressure = 90 + ((i * 53) % 300) / 10;
  const operator = ['early', 'late', 'night'][Math.floor(i / 8) % 3];
  const defect = mould > (press === 'C' ? 80 : 90) || pressure < 93;
  const features = [i, press, mould, pressure, operator];
  if (i < 400) {
    lines.known.push([...features, defect ? 'yes' : 'no'].join(','));
  } else {
    lines.new.push(features.join(','));
  }
}
const folder = env.get('FOLDER');
for (const name of ['known', 'new']) {
  node.send({ filename: `${folder}/${name}.csv`, payload: `${lines[name].join('\n')}\n` });
}
