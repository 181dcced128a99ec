/**
 * What a host's Caddy writes down of those who visit its sites: one line a page, into one file of bounded size. No address is written,
 * but a short hash of it under a salt that lies on the host and is replaced each day; nothing after `?`; of a referrer its host
 * alone. Without a salt nothing is written. Pure.
 * Source: rules/host.md#visits; Caddy 2.11, JSON of logging, log_append, vars.
 */

type Json = Record<string, unknown>

/** Of Caddy's log, and the last word of the name under which the server writes to it. */
export const VISITS_LOG = 'bottega-visits'
const LOGGER = `http.log.access.${VISITS_LOG}`
const CADDYS_OWN = 'default'

/** Folders that what is written lies in, below a host's folder of sites. */
export const VISITS_FOLDER = 'visits'
/** Of them the name of the file, which `controllers/io/hosts/scripts/visits.sh` reads. */
const FILE = 'log/visits.log'
const SALT = 'salt'

/** One file and so many before it: a host that nobody reads for long keeps no more. */
const ROLL_MEBIBYTES = 8
const ROLLED_MAX = 5
const ROLLED_DAYS_MAX = 2

const PATH_MAX = 300
const AGENT_MAX = 400

/** RE2, as Caddy has it: linear. */
const firstOf = (characters: number): Json => ({
  filter: 'regexp',
  regexp: `(?s)^(.{0,${characters}}).*$`,
  value: '$1',
})
const HOST_ALONE: Json = {
  filter: 'regexp',
  regexp: '(?s)^(?:https?://(?:[^/?#@]*@)?([A-Za-z0-9.-]{1,253})(?:[:/?#].*)?|.*)$',
  value: '$1',
}
const DELETED: Json = { filter: 'delete' }

const VISITOR = 'bottega_visitor'
const SILENT: Json = { handler: 'vars', log_skip: true }
const noted = (key: string, value: string): Json => ({ handler: 'log_append', key, value })

/** @param folder where visits are written  @param site the name of the resource */
const counting = (folder: string, site: string): Json => {
  const visitor = `{file.${folder}/${SALT}} ${site} {http.vars.client_ip} {http.request.header.User-Agent}`
  return {
    handler: 'subroute',
    routes: [
      { handle: [SILENT] },
      {
        match: [
          {
            method: ['GET'],
            file: { root: folder, try_files: [`/${SALT}`] },
            // What no visitor looks at: parts of pages, and pages that a browser takes in advance.
            not: [{ path: ['/assets/*'] }, { header: { 'Sec-Purpose': ['*prefetch*'] } }],
          },
        ],
        handle: [
          { handler: 'vars', log_skip: false },
          noted('site', site),
          noted('path', '{http.request.orig_uri.path}'),
          noted('referrer', '{http.request.header.Referer}'),
          noted('agent', '{http.request.header.User-Agent}'),
          {
            handler: 'subroute',
            routes: [
              {
                // Who asks not to be told from others is not.
                match: [{ not: [{ header: { 'Sec-Gpc': ['1'] } }] }],
                handle: [{ handler: 'vars', [VISITOR]: visitor }, noted('visitor', VISITOR)],
              },
            ],
          },
        ],
      },
    ],
  }
}

const SITE = 'Site/'

/** The handlers of a route with what has its visits counted, where it is a site's, or else has nothing written of them. */
export const withVisits = (folder: string | null, owner: string, handle: readonly unknown[]): unknown[] => {
  if (folder === null) return [...handle]
  const first = owner.startsWith(SITE) ? counting(folder, owner.slice(SITE.length)) : SILENT
  return [first, ...handle]
}

/** Of the server. */
export const serverLogs = (folder: string | null): Json =>
  folder === null ? {} : { logs: { default_logger_name: VISITS_LOG } }

const objectIn = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}

const visitsLog = (folder: string): Json => ({
  writer: {
    output: 'file',
    filename: `${folder}/${FILE}`,
    mode: '0644',
    roll_size_mb: ROLL_MEBIBYTES,
    roll_keep: ROLLED_MAX,
    roll_keep_days: ROLLED_DAYS_MAX,
    roll_compression: 'none',
  },
  encoder: {
    format: 'filter',
    wrap: { format: 'json' },
    fields: {
      request: DELETED,
      resp_headers: DELETED,
      user_id: DELETED,
      bytes_read: DELETED,
      duration: DELETED,
      size: DELETED,
      visitor: { filter: 'hash' },
      path: firstOf(PATH_MAX),
      agent: firstOf(AGENT_MAX),
      referrer: HOST_ALONE,
    },
  },
  include: [LOGGER],
})

/** Whatever else the log of Caddy itself is told stays; only our lines are not to be in it. */
const ownLog = (seen: unknown): Json => {
  const own = objectIn(seen)
  if (Array.isArray(own.include) && own.include.length > 0) return own
  const excluded = Array.isArray(own.exclude) ? own.exclude : []
  return excluded.includes(LOGGER) ? own : { ...own, exclude: [...excluded, LOGGER] }
}

/** What Caddy logs, of what it logs now. Empty where nothing is to be said. */
export const loggingConfig = (seen: unknown, folder: string | null): Json => {
  const logging = objectIn(seen)
  const { [VISITS_LOG]: _before, ...others } = objectIn(logging.logs)
  if (folder === null)
    return Object.keys(logging).length === 0
      ? {}
      : { logging: { ...logging, ...(logging.logs !== undefined && { logs: others }) } }
  const logs = { ...others, [CADDYS_OWN]: ownLog(others[CADDYS_OWN]), [VISITS_LOG]: visitsLog(folder) }
  return { logging: { ...logging, logs } }
}
