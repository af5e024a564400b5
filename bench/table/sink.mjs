/*
 * A service that takes uploads and forgets them, in a process of its own: the same sink for us and for curl.
 * node sink.mjs [MB a second], as over a network of that speed.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const LIMITS = { default_model_version: 'v1', max_model_limit: {}, model_limits: {} };

const bytesPerMs = Number(process.argv[2] ?? Infinity) * 1000;

/** Reads no faster than the network would bring it. */
function take(req) {
  const start = performance.now();
  let bytes = 0;
  req.on('data', (piece) => {
    bytes += piece.length;
    const early = start + bytes / bytesPerMs - performance.now();
    if (early < 2) {
      return;
    }
    req.pause();
    setTimeout(() => req.resume(), early);
  });
}

const server = createServer((req, res) => {
  if (req.method === 'PUT') {
    take(req);
    req.on('end', () => res.end());
    return;
  }
  const chunks = [];
  req.on('data', (chunk) => chunks.push(chunk));
  req.on('end', () => {
    const urls = (name) => ({
      signed_urls: [`${address()}/signed/${name}`],
      expires_at: Math.floor(Date.now() / 1000) + 3600,
      required_headers: {},
    });
    const answers = {
      '/svc/get_model_limits': () => LIMITS,
      '/svc/prepare_test_set_upload': () => ({ test_set_upload_id: randomUUID(), x_test_info: urls('x') }),
      '/svc/prepare_train_set_upload': () => ({
        train_set_upload_id: randomUUID(),
        x_train_info: urls('x'),
        y_train_info: urls('y'),
      }),
    };
    const answer = answers[req.url];
    res.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    res.end(JSON.stringify(answer?.() ?? { detail: 'Not Found' }));
  });
});
server.requestTimeout = 0;
const address = () => `http://127.0.0.1:${server.address().port}`;
server.listen(0, '127.0.0.1', () => process.send(address()));
