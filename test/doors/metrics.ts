/** What tests reach of src/metrics: a file that moves there is renamed here, and nowhere else. */
export { areNeighboursAlike } from '../../dist/src/metrics/neighbours';
