/**
 * How a host's proxy (Caddy) serves a site: files from the folder that `current` points to, assets from the folder in which those
 * of earlier releases stay, so that a page which was loaded a moment ago still finds its own; the site's own page for what is
 * not found; compression; headers as the preview had them.
 * Source: Caddy JSON of file_server, headers, encode, subroute.
 */

import { html, textOf } from '../../text/html.ts'
import { policyOf } from '../../text/policy.ts'
import { trimmedEnd } from '../../values/trimmed.ts'
import { waysTo } from '../content/redirects.ts'
import { type Headers, HINTS_PATH, isNotFound } from '../render/headers.ts'
import { documentShell } from '../render/page/shell.ts'
import { ASSETS_FOLDER, addressOfFile, NOT_FOUND_PATH, type SiteManifest } from './manifest.ts'
import { STATEMENT_PATH } from './statement.ts'

type Handler = { handler: string; [word: string]: unknown }

/** Where the files of one site lie below a host's folder of sites. */
export const siteFolder = (siteRoot: string, site: string): string => `${trimmedEnd(siteRoot, '/')}/sites/${site}`

const setHeaders = (headers: Headers): Handler => ({
  handler: 'headers',
  response: { set: Object.fromEntries(Object.entries(headers).map(([name, value]) => [headerName(name), [value]])) },
})

/** Caddy keys headers by their canonical form. */
const headerName = (name: string): string => name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase())

/** Types by extension as the manifest states them, for the host's own table may not know them. Pages are HTML anyway. */
const typeRoutes = ({ files }: SiteManifest) => {
  const types = new Map<string, string>()
  for (const { path, contentType } of files) {
    const extension = /\.([a-z0-9]+)$/.exec(path)?.[1]
    if (extension !== undefined && extension !== 'html') types.set(extension, contentType)
  }
  return [...types].sort().map(([extension, type]) => ({
    match: [{ path: [`*.${extension}`] }],
    handle: [setHeaders({ 'content-type': type })],
  }))
}

/** One page under one address: a folder's own, and no second time by the name of its file. The port stands in the address. */
const INDEX_REDIRECT = {
  match: [{ path_regexp: { name: 'index', pattern: '^(.*/)index\\.html$' } }],
  handle: [
    {
      handler: 'static_response',
      status_code: '308',
      headers: { Location: ['https://{http.request.hostport}{http.regexp.index.1}'] },
    },
  ],
}

/** Former addresses of the site, where nothing lies now: a page wins. A manifest of before has no content. */
const formerRoutes = ({ content }: SiteManifest) =>
  (content?.meta.redirects ?? []).map(({ from, to }) => ({
    match: [{ path: waysTo(from) }],
    handle: [{ handler: 'static_response', status_code: '308', headers: { Location: [to] } }],
    terminal: true,
  }))

/** For whoever checks the site from a page of their own. */
const STATEMENT_HEADERS: Headers = {
  'content-type': 'application/json',
  'cache-control': 'public, max-age=60',
  'access-control-allow-origin': '*',
  'x-content-type-options': 'nosniff',
}

/** Two years, as lists of browsers ask for. Subdomains are not ours to speak for. */
const HSTS: Headers = { 'strict-transport-security': 'max-age=63072000' }

/**
 * Before a page its style sheet is named (103 Early Hints), to whoever speaks HTTP/2: older clients may take it for the answer. What is
 * named stands in a file of the release, so that the route stays as it is when another release is switched to: each new configuration
 * of the proxy costs the visitors of all sites of the host whose connection was just accepted their first answer.
 * Source: RFC 8297; Caddy's placeholder {file.*}, read for each request.
 */
const hintRoutes = ({ files }: SiteManifest, current: string) =>
  files.some(({ path }) => path === HINTS_PATH)
    ? [
        {
          match: [{ path: ['*/'], protocol: 'http/2+' }],
          handle: [
            { handler: 'static_response', status_code: '103', headers: { Link: [`{file.${current}/${HINTS_PATH}}`] } },
          ],
        },
      ]
    : []

/** Those of further languages first, by their folder; that of the first language takes the rest. */
const notFoundPaths = ({ files }: SiteManifest): string[] => [
  ...files.flatMap(({ path }) => (path !== NOT_FOUND_PATH && isNotFound(path) ? [path] : [])),
  NOT_FOUND_PATH,
]

/** Pages that are served with headers of their own; each address is the page's alone. */
const ownRoutes = ({ own = {} }: SiteManifest, current: string) =>
  Object.entries(own).map(([path, { live }]) => ({
    match: [{ path: [addressOfFile(path)] }],
    handle: [setHeaders(live), { handler: 'file_server', root: current, pass_thru: true, index_names: ['index.html'] }],
  }))

/** Hostnames that lead to `origin` (`https://…`, without a slash), with the path and the query that were asked for. */
export type Leading = { aliases: readonly string[]; origin: string }

const leadOn = ({ aliases, origin }: Leading) => ({
  match: [{ host: [...aliases] }],
  handle: [
    {
      handler: 'static_response',
      status_code: '308',
      headers: { Location: [`${origin}{http.request.uri}`], 'Cache-Control': ['public, max-age=3600'] },
    },
  ],
  terminal: true,
})

/** @param isProven visitors were served under the name with a certificate, and it is the account's: browsers shall insist on TLS */
export const siteHandlers = (
  folder: string,
  manifest: SiteManifest,
  isProven = false,
  leading: Leading = { aliases: [], origin: '' },
): Handler[] => {
  const { live } = manifest
  const current = `${folder}/current`
  const html = { 'content-type': 'text/html; charset=utf-8' }
  return [
    { handler: 'encode', encodings: { zstd: {}, gzip: {} }, prefer: ['zstd', 'gzip'] },
    ...(isProven ? [setHeaders(HSTS)] : []),
    {
      handler: 'subroute',
      routes: [
        ...(leading.aliases.length > 0 ? [leadOn(leading)] : []),
        INDEX_REDIRECT,
        ...typeRoutes(manifest),
        ...hintRoutes(manifest, current),
        {
          match: [{ path: [`/${ASSETS_FOLDER}*`] }],
          handle: [
            setHeaders(live.asset),
            { handler: 'file_server', root: `${folder}/kept`, pass_thru: true, index_names: [] },
          ],
        },
        {
          match: [{ path: [`/${STATEMENT_PATH}`] }],
          handle: [setHeaders(STATEMENT_HEADERS), { handler: 'file_server', root: current, pass_thru: true }],
        },
        ...ownRoutes(manifest, current),
        {
          // the pages for what is not found are found nowhere
          match: [{ not: [{ path: [...notFoundPaths(manifest), STATEMENT_PATH].map((path) => `/${path}`) }] }],
          handle: [
            setHeaders(live.page),
            { handler: 'file_server', root: current, pass_thru: true, index_names: ['index.html'] },
          ],
        },
        ...formerRoutes(manifest),
        ...notFoundPaths(manifest).map((path) => ({
          ...(path !== NOT_FOUND_PATH && {
            match: [{ path: [`/${path.slice(0, -NOT_FOUND_PATH.length)}*`] }],
            terminal: true,
          }),
          handle: [
            setHeaders({ ...live.missing, ...html }),
            { handler: 'rewrite', uri: `/${path}` },
            { handler: 'file_server', root: current, status_code: '404' },
          ],
        })),
      ],
    },
  ]
}

const GONE = textOf(
  documentShell({
    lang: 'en',
    head: html`<meta name="robots" content="noindex">
<title>Gone</title>`,
    body: html`<main><h1>This site is not here any more.</h1></main>`,
  }),
)

/** What visitors of a site that was taken down get. */
export const goneHandlers = (): Handler[] => [
  {
    handler: 'static_response',
    status_code: '410',
    headers: {
      'Content-Type': ['text/html; charset=utf-8'],
      'Content-Security-Policy': [policyOf({})],
      'X-Content-Type-Options': ['nosniff'],
      'Cache-Control': ['no-store'],
    },
    body: GONE,
  },
]
