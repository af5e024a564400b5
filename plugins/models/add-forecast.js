/*
 * An action of the editor: the nodes that make a forecast of MQTT readings, wired. By keyboard alone Node-RED adds no
 * node, and wires first outputs only.
 */

/* Each is the top left of a column of its own; distances fit the longest status. */
const nodes = (x, y) => {
  const at = (id, type, column, row, wires) => ({ id, type, x: x + 230 * column, y: y + 80 * row, wires });
  return [
    at('readings', 'mqtt in', 0, 0, [['rows']]),
    at('rows', 'tabular-series', 1, 0, [['predict'], ['watch'], ['fit']]),
    at('predict', 'tabular-predict', 2, 0, [['watch']]),
    at('fit', 'tabular-fit', 2, 1, [[]]),
    at('watch', 'tabular-watch', 3, 0, [[], ['changes']]),
    at('changes', 'debug', 4, 0, []),
  ];
};

/* Below what the flow has. */
function addForecast() {
  const own = RED.nodes.filterNodes({ z: RED.workspaces.active() });
  const y = own.reduce((lowest, node) => Math.max(lowest, node.y + 100), 80);
  const { nodes: added } = RED.nodes.import(nodes(120, y), {
    generateIds: true,
    applyNodeDefaults: true,
    markChanged: true,
  });
  RED.history.push({ t: 'add', nodes: added.map(({ id }) => id), dirty: RED.nodes.dirty() });
  RED.nodes.dirty(true);
  RED.view.redraw(true);
  RED.view.select({ nodes: [added[0]] });
  RED.view.reveal(added[0].id);
  RED.view.focus();
}

RED.actions.add('tabular-prediction:add-mqtt-forecast', addForecast);
