/** Ids as a file or a message may bring them, each of which leads somewhere else, or nowhere, as part of a path. */
export const STRANGE_IDS = [
  '..',
  '.',
  '',
  '../victim',
  '../../../victim',
  '..\\..\\..\\victim',
  './../../../victim/.',
  '/tmp/victim',
  'C:\\victim',
  'e0e0e0e0-0000-4000-8000-00000000000a/../../../../victim',
  'e0e0e0e0-0000-4000-8000-00000000000a\0/../victim',
  '\0',
  '%2e%2e%2fvictim',
  'con',
  'x'.repeat(5000),
];
