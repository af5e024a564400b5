/** What tests reach of src/settings: a file that moves there is renamed here, and nowhere else. */
export {
  isUnsaid,
  parseSetting,
  problemWith,
  type Setting,
  type Settings,
} from '../../dist/src/settings/kinds';
export * from '../../dist/src/settings/kinds';
export { NODE_SETTINGS } from '../../dist/src/settings/nodes';
