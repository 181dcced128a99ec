/**
 * All layouts from one's own content: as a list for programs, and under the link of the preview as a page of frames. Nothing of a
 * variant is stored; each is rendered when a frame asks for it, aside and within bounds (controllers/base/judging/variants.ts).
 */
import { TooDear } from '../../../controllers/base/threads/pool.ts'
import { ACCOUNT } from '../../../crds/account/kind.ts'
import type { StoredAccount } from '../../../crds/account/view.ts'
import type { Template } from '../../../crds/site/content/content.ts'
import { LAYOUTS, TEMPLATES } from '../../../crds/site/content/meta.ts'
import { TEMPLATE_FOR } from '../../../crds/site/content/presets/choices.ts'
import type { SiteManifest } from '../../../crds/site/publishing/manifest.ts'
import { type Choice, choicesOf, chooses, type MadeOf } from '../../../crds/site/publishing/variant.ts'
import { headersOf, isNotFound } from '../../../crds/site/render/headers.ts'
import type { SiteFile } from '../../../crds/site/render/input.ts'
import { policyOf, SELF } from '../../../crds/text/policy.ts'
import { sameOwner } from '../../command/own.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { flag, list, object, oneOf, text } from '../../openapi/schemas.ts'
import { makePageAnswer } from '../../page/answer.ts'
import type { Deps } from '../../wiring/deps.ts'
import type { Route } from '../../wiring/route.ts'
import type { SiteNeeds } from '../needs.ts'
import { type Previewed, previewed, previewHeaders } from '../preview.ts'
import { sites } from '../read.ts'
import { thumbnailPath } from './catalogue.ts'
import { variantsPage } from './variants-page.ts'

type VariantNeeds = SiteNeeds & Pick<Deps, 'variants'>

const templateNamed = (word: string | null | undefined): Template | null =>
  TEMPLATES.find((template) => template === word) ?? null

const listVariants = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const { name, view } = await sites.find(deps, request)
  const lock = templateNamed(request.caller.profile.template_lock)
  const page = `${view.preview_url}~`
  const variants = choicesOf(lock).map(({ layout, template, recommended }) => ({
    layout,
    template,
    recommended,
    url: `${page}/${layout}/${template}/`,
    thumbnail: `${deps.publicUrl}${thumbnailPath(layout, template)}`,
    choose: { method: 'POST', path: `/api/website/${name}/update`, body: chooses({ layout, template }, lock) },
  }))
  return { status: 200, body: { url: page, locked: lock, variants } }
}

/** Whoever holds the link of a frozen preview is shown that and nothing else. */
const openedOf = async (deps: SiteNeeds, request: ApiRequest): Promise<Previewed & { lock: Template | null }> => {
  const found = await previewed(deps, request.params.token ?? '')
  if (found.isFrozen) throw new Problem('NOT_FOUND', 'This link shows one rendering alone.')
  const account = await deps.mirror.get<StoredAccount>(ACCOUNT, found.row.account, sameOwner(found.row))
  return { ...found, lock: templateNamed(account?.view.template_lock) }
}

const pageAnswer = makePageAnswer({ policy: policyOf({ styles: [SELF], framed: [SELF] }), referrer: 'no-referrer' })

const showVariants = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const { row, manifest, lock, rendering } = await openedOf(deps, request)
  const { layout } = manifest.content.meta
  const template = lock ?? templateNamed(request.query.template) ?? rendering.template
  const shown = LAYOUTS.map((one) => ({ layout: one, template, recommended: TEMPLATE_FOR[one] === template }))
  return pageAnswer(
    200,
    variantsPage({
      site: row.name,
      company: manifest.content.meta.companyName,
      path: `/preview/${request.params.token}/~`,
      lock,
      template,
      current: { layout, template: rendering.template },
      shown: shown.map((one) => ({ ...one, body: chooses(one, lock) })),
      pictures: row.view.pictures ?? { ready: 0, total: 0 },
      isReady: manifest.made !== undefined,
    }),
  )
}

const BEFORE = 'The site was rendered before there were variants: any update of it shows them.'

const madeOf = async ({ blobs }: SiteNeeds, { made, content }: SiteManifest) => {
  const bytes = made === undefined ? null : await blobs.get(made)
  if (bytes === null) throw new Problem('NOT_FOUND', BEFORE)
  return { content, made: JSON.parse(bytes.toString('utf8')) as MadeOf }
}

const choiceOf = ({ params }: ApiRequest, lock: Template | null): Choice => {
  const layout = LAYOUTS.find((one) => one === params.layout)
  const template = templateNamed(params.template)
  if (layout === undefined || template === null || (lock !== null && template !== lock))
    throw new Problem('NOT_FOUND', 'There is no such variant to choose.')
  return { layout, template }
}

const bytesOf = async ({ blobs }: SiteNeeds, { content }: SiteFile): Promise<Buffer | null> =>
  typeof content === 'string' ? Buffer.from(content, 'utf8') : blobs.get(content.sha256)

/** `frameAncestors`: the page of frames, which comes from here. */
const FRAMED = { noindex: true, frameAncestors: SELF }

const showVariant = async (deps: VariantNeeds, request: ApiRequest): Promise<Answer> => {
  const { row, manifest, lock, rendering } = await openedOf(deps, request)
  const choice = choiceOf(request, lock)
  const read = () => madeOf(deps, manifest)
  const files = await deps.variants
    .render(rendering.manifest, choice, read, { account: row.account })
    .catch((error: unknown) => {
      if (error instanceof TooDear)
        throw new Problem('NOT_FOUND', 'This content is too large to be shown in other layouts.')
      throw error
    })
  const asked = ([] as string[]).concat(request.params.path ?? []).join('/')
  const path = asked === '' || asked.endsWith('/') ? `${asked}index.html` : asked
  const file = files.get(path)
  const bytes = file && (await bytesOf(deps, file))
  if (!file || !bytes) throw new Problem('NOT_FOUND', 'The variant has no such page.')
  return {
    status: isNotFound(path) ? 404 : 200,
    bytes,
    headers: previewHeaders(headersOf(file, FRAMED), file.contentType),
  }
}

/** Links in a page are relative to its folder, so the address ends in a slash. A dead link leads nowhere with or without. */
const addSlash = async (deps: VariantNeeds, request: ApiRequest): Promise<Answer> => {
  const { layout, template } = choiceOf(request, (await openedOf(deps, request)).lock)
  const location = `/preview/${request.params.token}/~/${layout}/${template}/`
  return { status: 308, headers: { location, 'cache-control': 'no-store' } }
}

const variantAnswer = object('One way to show the content.', {
  layout: oneOf('The structure.', LAYOUTS),
  template: oneOf('The brand.', TEMPLATES),
  recommended: flag('Made for each other.'),
  url: text('The content in it, under the link of the preview.'),
  thumbnail: text('Both as a drawing.'),
  choose: object('The call that chooses it.', {
    method: text('POST.'),
    path: text('Where to.'),
    body: { type: 'object', description: 'What to send.' },
  }),
})

export const variantRoutes: Route<SiteNeeds>[] = [
  {
    method: 'GET',
    path: '/api/website/:id/variants',
    summary: 'List the layouts and templates that a site can be shown in',
    description:
      'Each with its own content under the link of the preview, and the call that chooses it. Nothing is stored.',
    tag: 'Websites',
    scope: { kind: 'scope', scope: 'websites:read' },
    answers: {
      200: {
        description: 'All of them; of an account that is locked to a template, those of that one.',
        schema: object('What there is to choose from.', {
          url: text('A page with all layouts side by side.'),
          locked: { type: ['string', 'null'], description: 'The template that the account is locked to.' },
          variants: list('Each layout in each template.', variantAnswer),
        }),
      },
    },
    codes: ['NOT_FOUND'],
    handle: listVariants,
  },
]

const open = { hidden: true, method: 'GET', scope: { kind: 'public', limit: 'file' } } as const
const query = {
  template: { type: 'string', description: 'Which one the layouts are shown in.', enum: [...TEMPLATES] },
} as const

/** They stand before the files of the preview: no page is called `~`. */
export const variantPageRoutes: Route<VariantNeeds>[] = [
  { ...open, path: '/preview/:token/~', summary: 'A site in all layouts', query, handle: showVariants },
  { ...open, path: '/preview/:token/~/:layout/:template/{*path}', summary: 'A variant of a site', handle: showVariant },
  { ...open, path: '/preview/:token/~/:layout/:template', summary: 'A variant of a site', handle: addSlash },
]
