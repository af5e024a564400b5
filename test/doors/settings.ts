/** What tests reach of src/settings: a file that moves there is renamed here, and nowhere else. */
export {
  isUnsaid,
  NODE_SETTINGS,
  parseSetting,
  problemWith,
  type Setting,
  type Settings,
} from '../../dist/src/settings';
export * from '../../dist/src/settings/kinds';
