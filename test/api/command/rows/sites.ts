import type { Json } from '../../../support/stage/invoicing.ts'
import { siteContent } from '../../../support/stage/publishing.ts'
import type { Prepare, TableRow, TableRows, TableStage, Waits } from './row.ts'

const ALL = '/api/website'
const ASYNC = { prefer: 'respond-async' }
const FRENCH = siteContent({ meta: { company_name: 'Voss', lang: 'fr' } })
type Before = (stage: TableStage, tag: string) => Promise<string>

const drafted: Before = async ({ sure, owner }) =>
  (await sure(owner, 'POST', `${ALL}/generate`, { content: siteContent() })).site.id
const submitted: Before = async (stage, tag) => {
  const id = await drafted(stage, tag)
  await stage.sure(stage.owner, 'POST', `${ALL}/${id}/submit-review`, {})
  return id
}
/** And a name at the host that is away. */
const approved: Before = async (stage, tag) => {
  const id = await submitted(stage, tag)
  await stage.sure(stage.reviewer, 'POST', `${ALL}/${id}/decision`, { decision: 'approve', note: '' })
  await stage.sure(stage.owner, 'PUT', `${ALL}/${id}/domain`, { subdomain: `site-${tag}` })
  return id
}
/** Asked to go live, which it does not. */
const publishing: Before = async (stage, tag) => {
  const id = await approved(stage, tag)
  const { status, text } = await stage.ask(stage.owner, 'POST', `${ALL}/${id}/publish`, {}, ASYNC)
  if (status !== 202) throw new Error(text)
  return id
}

const makeRows = (stage: TableStage) => {
  const on =
    (before: Before, rest: string, body?: Json, by = stage.owner): Prepare =>
    async (tag) => ({ path: `${ALL}/${await before(stage, tag)}${rest}`, by, ...(body && { body }) })
  const row = (prepare: Prepare, refused: TableRow['refused'], more: Partial<Waits> = {}): TableRow => ({
    waits: { kind: 'wsite', prepare, status: 200, gone: 'unknown', ...more },
    refused,
  })
  return { on, row }
}
type Rows = ReturnType<typeof makeRows>

const drafting = ({ on, row }: Rows, { owner }: TableStage): TableRows => ({
  'POST /api/website/generate': row(
    async () => ({ path: `${ALL}/generate`, body: { content: siteContent() }, by: owner }),
    { code: 'BAD_LANG', prepare: async () => ({ path: `${ALL}/generate`, body: { content: FRENCH }, by: owner }) },
    { status: 201 },
  ),
  'DELETE /api/website/:id': row(
    on(drafted, ''),
    { never: 'only a site that is live is refused, which takes a host' },
    { status: 204, gone: 'succeeded' },
  ),
  'POST /api/website/:id/update': row(on(drafted, '/update', { content: { meta: { company_name: 'Changed' } } }), {
    code: 'BAD_LANG',
    prepare: on(drafted, '/update', { content: { meta: { lang: 'fr' } } }),
  }),
})

const reviewing = ({ on, row }: Rows, { reviewer }: TableStage): TableRows => {
  const decision = { decision: 'approve', note: '' }
  return {
    'POST /api/website/:id/submit-review': row(on(drafted, '/submit-review', {}), {
      never: 'only what changes before anybody sees it is refused (settle.test.ts)',
    }),
    'POST /api/website/:id/decision': row(on(submitted, '/decision', decision, reviewer), {
      code: 'NOT_SUBMITTED',
      prepare: on(drafted, '/decision', decision, reviewer),
    }),
  }
}

const rotations = ({ on, row }: Rows): TableRows => {
  const refused = { never: 'whatever becomes of it, who may look at it can be ended' } as const
  return {
    'POST /api/website/:id/preview/rotate': row(on(drafted, '/preview/rotate', {}), refused),
    'POST /api/website/:id/review/rotate': row(on(submitted, '/review/rotate', {}), refused),
    'POST /api/website/:id/form/rotate': row(on(drafted, '/form/rotate', {}), refused),
  }
}

const goingLive = ({ on, row }: Rows, stage: TableStage): TableRows => ({
  'PUT /api/website/:id/domain': row(
    async (tag) => ({
      path: `${ALL}/${await drafted(stage, tag)}/domain`,
      body: { subdomain: `table-${tag}` },
      by: stage.owner,
    }),
    {
      code: 'SUBDOMAIN_TAKEN',
      async prepare(tag) {
        await approved(stage, tag)
        return on(drafted, '/domain', { subdomain: `site-${tag}` })(tag)
      },
    },
  ),
  'DELETE /api/website/:id/redirects/:hostname': {
    waits: { never: 'it needs a former name, which only a host makes' },
    refused: { code: 'BAD_DOMAIN', prepare: on(drafted, '/redirects/xn--80ak6aa92e.com') },
  },
  'POST /api/website/:id/publish': row(
    on(approved, '/publish', {}),
    { code: 'NOT_APPROVED', prepare: on(drafted, '/publish', {}) },
    { status: 'pending' },
  ),
  'POST /api/website/:id/unpublish': row(on(publishing, '/unpublish', {}), {
    never: 'any site may be asked to be live no more',
  }),
  'POST /api/website/:id/republish': {
    waits: { never: 'it needs a release, which only a host makes' },
    refused: { code: 'NOT_PUBLISHED', prepare: on(approved, '/republish', {}) },
  },
})

export const siteRows = (stage: TableStage): TableRows => {
  const rows = makeRows(stage)
  return { ...drafting(rows, stage), ...reviewing(rows, stage), ...rotations(rows), ...goingLive(rows, stage) }
}
