import path from 'node:path';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';

const WORKER = path.resolve(__dirname, '../../dist/src/service/work/fit-worker.js');

/**
 * A fit thread that helps with fits. `assist` asks it to help with one, and answers the fit's end of the line; `pressure`
 * says how many jobs wait for it meanwhile.
 */
export function fitHelper(): { worker: Worker; assist: () => MessagePort; pressure: Int32Array } {
  const pressure = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(WORKER, { workerData: { pressure } });
  let id = 0;
  const assist = (): MessagePort => {
    const { port1, port2 } = new MessageChannel();
    worker.postMessage({ id: ++id, task: { kind: 'assist', port: port2 } }, [port2]);
    return port1;
  };
  return { worker, assist, pressure };
}
