/* Of npm start: the first visit of the editor opens the sidebar on the models that the demo is fitting. */
(function () {
  const VISITED = 'tabular-prediction-visited';
  if (localStorage.getItem(VISITED) === null) {
    localStorage.setItem(VISITED, 'true');
    // The tab that the editor opens by itself: the one of the last visit.
    localStorage.setItem('last-sidebar-tab', 'tabular-models');
  }
})();
