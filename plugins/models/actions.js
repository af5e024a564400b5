/* global RED */
/* What can be done with models: rename, take back, export, delete, import; with a word of warning where it cannot be undone. */
(function () {
  'use strict';
  const models = RED.tabularPrediction.models;

  models.tools = () => [];
  models.actions = () => ({ manage: '' });
})();
