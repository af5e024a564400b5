/* npm run soak -- [messages] [seed]: 100,000 messages through a real Node-RED under seeded random faults and redeploys. */
import { soak, soakFaults } from '../test/helpers/soak';

const messages = Number(process.argv[2] ?? 100_000);
const seed = Number(process.argv[3] ?? Math.floor(Math.random() * 2 ** 31));

async function main(): Promise<void> {
  console.log(`${messages} messages, seed ${seed}`);
  const summary = await soak({ messages, seed, redeploys: 10, outages: 3, log: console.log });
  const { state, before, early, after } = summary;
  const mb = (value: number) => `${value.toFixed(1)} MB`;
  console.table({
    'messages per second': Math.round(messages / summary.seconds),
    seconds: Math.round(summary.seconds),
    scored: state.sent,
    'ended with an error': state.failed,
    'lost by Node-RED between nodes at a redeploy, and sent again': state.resent,
    redeploys: summary.redeploys,
    'outages of the service': summary.outages.length,
    'fits asked for': state.fits.taken,
    requests: summary.requests,
    'faults injected': Object.values(summary.faults).reduce((sum, n) => sum + n, 0),
    'heap before': mb(before.heapMb),
    'heap after a fifth': mb(early.heapMb),
    'heap at its highest': mb(summary.peakHeapMb),
    'heap at the end': mb(after.heapMb),
    'rss at the end': mb(after.rssMb),
    'open files before and after': `${before.files}, ${after.files}`,
    'connections left': summary.connectionsAfter,
    'temporary files left': summary.tempFilesAfter.length,
  });
  console.log('errors by code:', state.codes, '\nfits with an error:', state.fits.codes);
  console.log('faults:', summary.faults);
  const wrong = soakFaults(summary, messages);
  for (const sentence of wrong) {
    console.error(`WRONG: ${sentence} (seed ${seed})`);
  }
  if (wrong.length === 0) {
    console.log('Every message is accounted for; nothing is left behind.');
  }
  process.exitCode = wrong.length === 0 ? 0 : 1;
}

void main();
