import { generateKeyPairSync } from 'node:crypto'
import { AWAY, type Prepare, type TableRow, type TableRows, type TableStage, type Waits } from './row.ts'
import { HOST_KEY } from './stage.ts'

const ALL = '/api/apps'
const HOSTS = '/api/apps/hosts'

const appRows = ({ sure, owner }: TableStage): TableRows => {
  const on =
    (rest: string, body?: unknown): Prepare =>
    async (tag) => {
      const { app } = await sure(owner, 'POST', ALL, { slug: `${tag}-app` })
      return { path: `${ALL}/${app.id}${rest}`, by: owner, ...(body !== undefined && { body }) }
    }
  const row = (prepare: Prepare, refused: TableRow['refused'], more: Partial<Waits> = {}): TableRow => ({
    waits: { kind: 'bapp', prepare, status: 200, gone: 'unknown', ...more },
    refused,
  })
  const planned = async (tag: string, rest: string, method: string, plan: object) => {
    const { path } = await on(`/${rest}`)(tag)
    const { plan_id, etag } = await sure(owner, method, path, plan)
    return { path, plan_id, headers: { 'if-match': etag } }
  }
  const applied =
    (rest: string, method: string, plan: object, body: object): Prepare =>
    async (tag) => {
      const { path, plan_id, headers } = await planned(tag, rest, method, plan)
      const key = { 'idempotency-key': `planned-${tag}` }
      return { path, headers: { ...headers, ...key }, body: { ...body, plan_id }, by: owner }
    }
  const unplanned =
    (rest: string, method: string, plan: object, body: object): Prepare =>
    async (tag) => {
      const { path, headers } = await planned(tag, rest, method, plan)
      const key = { 'idempotency-key': `unplanned-${tag}` }
      return { path, headers: { ...headers, ...key }, body: { ...body, plan_id: 'plan-none' }, by: owner }
    }
  const badEnv = { env: { '1A': 'b' } }
  return {
    'POST /api/apps': row(
      async (tag) => ({ path: ALL, body: { slug: `${tag}-made` }, by: owner }),
      { code: 'SLUG_TAKEN', prepare: async () => ({ path: ALL, body: { slug: 'first' }, by: owner }) },
      { status: 201 },
    ),
    'PATCH /api/apps/:id': row(on('', { application_policy: 'none' }), {
      code: 'PASSWORD_REQUIRED',
      prepare: on('', { access: 'private' }),
    }),
    'DELETE /api/apps/:id': row(
      on('?volumes=delete'),
      { never: 'only an app of which something runs is refused, which takes a host' },
      { status: 204, gone: 'succeeded' },
    ),
    'PATCH /api/apps/:id/env': row(on('/env', { env: { A: 'b' } }), { code: 'BAD_ENV', prepare: on('/env', badEnv) }),
    'PUT /api/apps/:id/env': row(on('/env', { env: { A: 'b' } }), { code: 'BAD_ENV', prepare: on('/env', badEnv) }),
    'POST /api/apps/:id/deploy': {
      waits: { never: 'what is sent is judged against a host that was inspected' },
      refused: { code: 'HOST_UNFIT', prepare: on('/deploy', {}) },
    },
    'POST /api/apps/:id/rollback': {
      waits: { never: 'it needs a release that a host has started' },
      refused: { code: 'UNKNOWN_RELEASE', prepare: on('/rollback', { release: 7 }) },
    },
    'POST /api/apps/:id/scale': row(on('/scale', { replicas: 2 }), {
      code: 'INVALID_FIELD',
      prepare: on('/scale', { replicas: 0 }),
    }),
    'POST /api/apps/:id/run': {
      waits: { never: 'it needs a release that a host has started' },
      refused: { code: 'NOT_RELEASED', prepare: on('/run', { service: 'web', command: ['id'] }) },
    },
    'POST /api/apps/:id/volumes/:name/backups': {
      waits: { never: 'it needs a release that a host has started' },
      refused: { code: 'NOT_RELEASED', prepare: on('/volumes/data/backups', {}) },
    },
    'POST /api/apps/:id/backups/:backup/restore': {
      waits: { never: 'it needs a volume that a host has' },
      refused: { code: 'NOT_FOUND', prepare: on('/backups/bak-none/restore', {}) },
    },
    'POST /api/apps/:id/move': {
      waits: { never: 'it needs a release that a host has started' },
      refused: { code: 'SAME_HOST', prepare: on('/move', { host_id: AWAY }) },
    },
    'POST /api/apps/:id/previews': {
      waits: { never: 'what is fetched is judged against a host that was inspected' },
      refused: {
        code: 'BAD_ENV',
        prepare: on('/previews', { ref: 'main', git: { url: 'https://example.com/a.git' }, ...badEnv }),
      },
    },
    'DELETE /api/apps/:id/previews/:preview': {
      waits: { never: 'it needs a preview, and so a repository' },
      refused: { code: 'NOT_FOUND', prepare: on('/previews/app-none') },
    },
    'PUT /api/apps/:id/domain-config': row(
      applied('domain-config', 'PUT', { step: 'plan', hostnames: [] }, { step: 'apply' }),
      {
        code: 'UNKNOWN_PLAN',
        prepare: unplanned('domain-config', 'PUT', { step: 'plan', hostnames: [] }, { step: 'apply' }),
      },
    ),
    'PATCH /api/apps/:id/publication-policy': row(
      applied('publication-policy', 'PATCH', { access: 'public' }, { access: 'public', apply: true }),
      {
        code: 'UNKNOWN_PLAN',
        prepare: unplanned('publication-policy', 'PATCH', { access: 'public' }, { apply: true }),
      },
    ),
    'POST /api/apps/operations/:operationId/cancel': {
      waits: { never: 'it needs an operation that a host was asked for' },
      refused: {
        code: 'NOT_FOUND',
        prepare: async (tag) => ({ path: `${ALL}/operations/op-${tag}/cancel`, body: {}, by: owner }),
      },
    },
  }
}

/** Hosts may be registered and changed without a machine: what is told is that nobody answered there. */
const hostRows = ({ sure, admin }: TableStage): TableRows => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const bodyOf = (tag: string) => ({
    name: tag,
    address: '127.0.0.1',
    port: 9,
    user: 'deploy',
    host_key: HOST_KEY,
    private_key: privateKey.export({ type: 'pkcs1', format: 'pem' }),
    base_domain: `${tag}.test`,
  })
  const on =
    (rest: string, body?: object): Prepare =>
    async (tag) => {
      const { host } = await sure(admin, 'POST', HOSTS, bodyOf(tag))
      return { path: `${HOSTS}/${host.id}${rest}`, by: admin, ...(body && { body }) }
    }
  const row = (prepare: Prepare, refused: TableRow['refused'], more: Partial<Waits> = {}): TableRow => ({
    waits: { kind: 'bhost', prepare, status: 200, gone: 'unknown', ...more },
    refused,
  })
  return {
    'POST /api/apps/hosts': row(
      async (tag) => ({ path: HOSTS, body: bodyOf(tag), by: admin }),
      {
        code: 'NAME_TAKEN',
        prepare: async (tag) => ({ path: HOSTS, body: { ...bodyOf(tag), id: AWAY }, by: admin }),
      },
      { status: 201 },
    ),
    'PATCH /api/apps/hosts/:id': row(on('', { name: 'Changed' }), {
      code: 'BAD_HOST_KEY',
      prepare: on('', { host_key: 'none' }),
    }),
    'DELETE /api/apps/hosts/:id': row(
      on(''),
      { code: 'HOST_IN_USE', prepare: async () => ({ path: `${HOSTS}/${AWAY}`, by: admin }) },
      { status: 204, gone: 'succeeded' },
    ),
    'POST /api/apps/hosts/:id/inspect': row(on('/inspect', {}), { never: 'a look is taken, whatever it finds' }),
    'POST /api/apps/hosts/:id/drain': row(on('/drain', {}), {
      code: 'NOT_FOUND',
      prepare: async (tag) => ({ path: `${HOSTS}/${tag}/drain`, body: {}, by: admin }),
    }),
    'POST /api/apps/hosts/:id/withdraw': {
      waits: { never: 'it needs an approval, and so a host that was inspected' },
      refused: {
        code: 'NOT_FOUND',
        prepare: async (tag) => ({ path: `${HOSTS}/${tag}/withdraw`, body: {}, by: admin }),
      },
    },
    'POST /api/apps/hosts/:id/approve': {
      waits: { never: 'it needs a host that was inspected' },
      refused: { code: 'NOT_INSPECTED', prepare: on('/approve', {}) },
    },
  }
}

/** Apps, and the hosts that they run on. */
export const appAndHostRows = (stage: TableStage): TableRows => ({ ...appRows(stage), ...hostRows(stage) })
