/*
 * The `defaults` of a dialog, written out from the settings of its node (src/settings). They stand in the .html as
 * they are, not behind a call: the flow library and other tools read them without running the dialog.
 */

/** The validator of each kind of setting that is checked while it is typed, as code (nodes/dialogs/validators.js). */
const VALIDATORS = {
  word: () => 'shared.validators.word',
  zone: () => 'shared.validators.zone',
  url: () => 'shared.validators.url',
  object: () => 'shared.validators.object',
  quantiles: () => 'shared.validators.quantiles',
  vary: ({ numbers }) => `shared.validators.vary(${JSON.stringify(numbers)})`,
  duration: ({ min }) => `shared.validators.duration(${JSON.stringify({ zero: min === 0 })})`,
  durations: ({ ranges = false }) => `shared.validators.durations(${JSON.stringify({ ranges })})`,
  list: ({ except }) => except && `shared.validators.listWithout(${JSON.stringify(except)})`,
  schedule: () => 'shared.validators.schedule',
  number: ({ min, max, integer }) => `shared.validators.number(${JSON.stringify({ min, max, integer })})`,
  types: ({ options }) => `shared.validators.types(${JSON.stringify(options)})`,
  columnOrTopic: ({ typeField }) => `shared.validators.topicWhen(${JSON.stringify(typeField)})`,
  property: ({ typeField }) =>
    `RED.validators.typedInput(${JSON.stringify({ typeField, allowUndefined: true })})`,
};

function validator(setting) {
  const check = VALIDATORS[setting.kind]?.(setting);
  if (setting.requiredWhen === undefined) {
    return check;
  }
  const [name, wanted, optional] = setting.requiredWhen.map((one) => JSON.stringify(one));
  const parameters = optional === undefined ? [check] : [check ?? 'undefined', optional];
  return `shared.validators.requiredWhen(${[name, wanted, ...parameters].join(', ')})`;
}

/** The options of a choice in the order of the dialog: a list, or lists by the key of their group's name. */
function options({ kind, options: all, groups, default: standard }) {
  if (kind !== 'choice') {
    return all;
  }
  const empty = standard === '' ? [''] : [];
  return groups === undefined ? [...empty, ...all] : { '': empty, ...groups };
}

/** What an empty field stands for, to be shown in it; of a choice what a flow without it means, where a new node differs. */
function shownFallback({ kind, fallback, label, default: standard }) {
  if (kind === 'onOff') {
    const word = fallback ? 'on' : 'off';
    return word === standard ? undefined : word;
  }
  if (kind === 'choice' && standard !== '' && fallback !== standard) {
    return fallback;
  }
  return ['text', 'word', 'number'].includes(kind) && label !== false ? fallback : undefined;
}

function line(type, name, setting) {
  const { label = name, kind, type: ofNode, default: standard } = setting;
  const entries = {
    ...(kind === 'node'
      ? { type: JSON.stringify(ofNode), required: 'false' }
      : { value: JSON.stringify(standard) }),
    label:
      label === false
        ? undefined
        : `shared.word(${JSON.stringify(type)}, ${JSON.stringify(`label.${label}`)})`,
    options: JSON.stringify(options(setting)),
    fallback: JSON.stringify(shownFallback(setting)),
    validate: validator(setting),
  };
  const written = Object.entries(entries).filter(([, code]) => code !== undefined);
  return `${' '.repeat(16)}${name}: { ${written.map(([key, code]) => `${key}: ${code}`).join(', ')} },\n`;
}

const PLACE = ' '.repeat(12) + 'defaults: {},\n';

/** A dialog's .html with the place for its defaults filled in. */
export function withDefaults(html, node, settings) {
  if (html.split(PLACE).length !== 2) {
    throw new Error(`nodes/${node}.html has no line "defaults: {}," for its settings.`);
  }
  const lines = Object.entries(settings).map(([name, setting]) => line(`tabular-${node}`, name, setting));
  return html.replace(PLACE, () => `${' '.repeat(12)}defaults: {\n${lines.join('')}${' '.repeat(12)}},\n`);
}
