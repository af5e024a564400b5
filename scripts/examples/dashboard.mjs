import { source } from './flow.mjs';

/** Settings of a chart of the energy of one day, in whichever year it is. */
export const ENERGY_OF_A_DAY = {
  label: '',
  order: 1,
  yAxisLabel: 'kWh',
  ymin: '0',
  ymax: '',
  width: 12,
  height: 8,
  removeOlder: '0',
};

/**
 * A page of a dashboard (@flowfuse/node-red-dashboard), and what its groups and charts have in common. Each example has
 * a dashboard with an id of its own: an id that is there already would stop the import with a question, while of two
 * dashboards the package keeps one, and moves the pages to it.
 */
export function dashboard(flow, name, path) {
  const ui = flow.config('ui-base', 'Tabular prediction', {
    path: '/dashboard',
    appIcon: '',
    includeClientData: true,
    acceptsClientConfig: ['ui-notification', 'ui-control'],
    showPathInSidebar: false,
    headerContent: 'page',
    navigationStyle: 'none',
    titleBarStyle: 'default',
    showReconnectNotification: true,
    notificationDisplayTime: 1,
    showDisconnectNotification: true,
    allowInstall: false,
  });
  const theme = flow.config('ui-theme', 'Machine room', {
    colors: {
      surface: '#183b56',
      primary: '#1f77b4',
      bgPage: '#eef1f4',
      groupBg: '#ffffff',
      groupOutline: '#d5dbe1',
    },
    sizes: {
      density: 'default',
      pagePadding: '12px',
      groupGap: '12px',
      groupBorderRadius: '6px',
      widgetGap: '12px',
    },
  });
  const page = flow.config('ui-page', name, {
    ui,
    path,
    icon: 'gauge',
    layout: 'grid',
    theme,
    breakpoints: [
      { name: 'Default', px: '0', cols: '3' },
      { name: 'Tablet', px: '576', cols: '6' },
      { name: 'Small Desktop', px: '768', cols: '9' },
      { name: 'Desktop', px: '1024', cols: '12' },
    ],
    order: 1,
    className: '',
    visible: true,
    disabled: false,
  });
  const group = (title, order, width) =>
    flow.config('ui-group', title, {
      page,
      width,
      height: 1,
      order,
      showTitle: true,
      className: '',
      visible: 'true',
      disabled: 'false',
      groupType: 'default',
    });
  const chart = {
    chartType: 'line',
    category: 'topic',
    categoryType: 'msg',
    xAxisLabel: ' ',
    xAxisProperty: 'x',
    xAxisPropertyType: 'msg',
    xAxisType: 'time',
    xAxisFormat: '',
    xAxisFormatType: 'auto',
    xmin: '',
    xmax: '',
    yAxisProperty: 'payload',
    yAxisPropertyType: 'msg',
    bins: 10,
    action: 'append',
    stackSeries: false,
    pointShape: 'false',
    pointRadius: 0,
    showLegend: true,
    removeOlder: '3',
    removeOlderUnit: '60',
    removeOlderPoints: '',
    // Until the page has told its own: see model-card.html.
    textColor: ['#70767f'],
    textColorDefault: false,
    gridColor: ['#80808040'],
    gridColorDefault: false,
    className: '',
    interpolation: 'linear',
  };
  return { group, chart };
}

/** The card of a model, as it is fitted: a node that shows it in a group of a dashboard, half as wide as the page. */
export function modelCard(flow, name, group, place, order = 1) {
  return Object.assign(template(flow, name, place, group, 'model-card.html'), { order, width: 6 });
}

/**
 * Lines of these columns of the rows in a chart, at the times of another. The chart may drop points by their number, not
 * by their age: of a single row it would drop all.
 */
export const columns = (names, time) => ({
  category: JSON.stringify(names),
  categoryType: 'json',
  xAxisProperty: time,
  xAxisPropertyType: 'property',
  yAxisPropertyType: 'property',
  removeOlder: '0',
});

/**
 * A node that makes an outcome of a series node a row of a chart, at the time that it is of.
 *
 * @param ahead milliseconds: only those that were asked for so long before, where each time is asked for several times
 */
export function whatCame(flow, name, place, ahead) {
  const row = '{"forecast_time": $row.time + $row.ahead, "measured": [truth][$i]}';
  const wanted = ahead === undefined ? row : `$row.ahead = ${ahead} ? ${row}`;
  return change(flow, name, place, {
    payload: `$map([series], function($row, $i) { ${wanted} })`,
  });
}

/** Two nodes that give a chart a text to show while its model is being fitted, and take it away. */
export function waiting(flow, begin, end) {
  const title = (text) => `{"chartOptions": {"title": ${text}}}`;
  return {
    begin: change(flow, 'waits', begin, {
      ui_update: title(
        '{"text": "Waiting for the model: it is being fitted, which takes a minute or so …", "left": "center", "top": "middle", "textStyle": {"color": "#888", "fontSize": 15}}',
      ),
      payload: '[]',
    }),
    end: change(flow, 'waits no more', end, { ui_update: title('{"text": ""}'), payload: undefined }),
  };
}

/**
 * A node that gives charts the colour of the page's text, as a model's card tells it: what they draw with has no colours
 * of its own theme. The options are those of Apache ECharts.
 */
export function legible(flow, place) {
  const axis = '{"axisLabel": {"color": $c}, "nameTextStyle": {"color": $c}}';
  return change(flow, 'legible on any theme', place, {
    ui_update: `($c := $replace(payload, /^rgb\\((.*)\\)$/, "rgba($1, 0.75)"); {"chartOptions": {"xAxis": ${axis}, "yAxis": ${axis}, "legend": {"textStyle": {"color": $c}}}})`,
    payload: undefined,
  });
}

/** A change node that sets properties of the message by JSONata, and deletes those that are undefined. */
export function change(flow, name, place, properties) {
  const rules = Object.entries(properties).map(([p, to]) =>
    to === undefined ? { t: 'delete', p, pt: 'msg' } : { t: 'set', p, pt: 'msg', tot: 'jsonata', to },
  );
  return flow.node('change', name, place, { rules });
}

/** A node that draws a page of its own, a file beside this one, in a group of a dashboard. */
export function template(flow, name, place, group, file) {
  return flow.node('ui-template', name, place, {
    group,
    page: '',
    ui: '',
    order: 1,
    width: 6,
    height: 0,
    head: '',
    format: source(file),
    storeOutMessages: false,
    passthru: false,
    resendOnRefresh: true,
    templateScope: 'local',
    className: '',
  });
}
