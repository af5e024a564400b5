import { parentPort } from 'node:worker_threads';

import { learn, type LearnTask } from './method/fit';

/** Learns what is usual for one machine after the other, beside the event loop of the flows. */
parentPort?.on('message', (task: LearnTask) => parentPort?.postMessage(learn(task)));
