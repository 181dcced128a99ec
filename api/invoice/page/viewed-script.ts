/**
 * The one script of the client's page: says once that somebody looks at it. Mail scanners fetch links, but do not sign in
 * and run scripts; a page that is drawn ahead of time tells nothing until it is shown. The page needs nothing of it.
 */

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
