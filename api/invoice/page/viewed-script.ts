/**
 * The one script of the client's page: says once that somebody looks at it. Mail scanners fetch links, but do not sign in
 * and run scripts; a page that is drawn ahead of time tells nothing until it is shown. The page needs nothing of it.
 */
import { createHash } from 'node:crypto'

export const BEACON = `'use strict';
(() => {
  const { path } = document.currentScript.dataset;
  const tell = () => {
    if (document.visibilityState !== 'visible') return;
    document.removeEventListener('visibilitychange', tell);
    navigator.sendBeacon(path);
  };
  document.addEventListener('visibilitychange', tell);
  tell();
})();
`

const HASH_LENGTH = 16
const hash = createHash('sha256').update(BEACON).digest('hex').slice(0, HASH_LENGTH)

/** Where it is served; a changed script has another name. */
export const BEACON_PATH = `/i/assets/viewed-${hash}.js`
