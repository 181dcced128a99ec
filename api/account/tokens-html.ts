/** The page of one's tokens: what there is, what each may do in plain words, and forms to mint, rotate and revoke. */
import { type Html, html } from '../../crds/text/html.ts'
import { accountHeader, accountPage, TOKENS_PATH } from '../page/account.ts'
import { fact, instant } from '../page/facts.ts'
import {
  button,
  buttonLink,
  choice,
  form,
  hiddenField,
  inputField,
  notice,
  type Options,
  selectField,
  visuallyHidden,
} from '../page/form.ts'

/** As shown: instants are ISO in UTC, `scopes` null is full access. */
export type ShownToken = {
  id: string
  name: string
  scopes: readonly string[] | null
  preset: string | null
  created_at: string
  expires_at: string | null
  last_used_at: string | null
  previous_until: string | null
}

export type Catalogue = {
  /** Scope → what it allows, a sentence. */
  scopes: Readonly<Record<string, string>>
  presets: Readonly<Record<string, { description: string; scopes: readonly string[] }>>
}

/** What was entered, to be corrected. */
export type TokenDraft = { name: string; choice: string; scopes: readonly string[]; days: string }

export type TokensFacts = {
  email: string
  /** Is shown the way to the reviews. */
  isReviewer?: boolean
  tokens: readonly ShownToken[]
  total: number
  catalogue: Catalogue
  /** Guards the forms against posts from elsewhere. */
  formToken: string
  /** Names this showing of the forms. */
  once: string
  /** Now, in ms, to say what is over. */
  nowMs: number
  fault?: string
  done?: string
  draft?: TokenDraft
}

/** `choice` when single scopes are picked. */
export const OWN_CHOICE = 'own'
export const LIFETIMES: Options = [
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'A year'],
  ['', 'Until it is revoked'],
]
/** Seconds for which the old secret still opens. */
export const GRACES: Options = [
  ['0', 'At once'],
  ['3600', 'In an hour'],
  ['86400', 'In 24 hours'],
]
export const NAME_MAX = 100
const START: TokenDraft = { name: '', choice: 'invoicing', scopes: [], days: '90' }

const title = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1).replace('-', ' ')

const mayOf = ({ scopes, preset }: ShownToken, { scopes: words }: Catalogue): Html => {
  if (scopes === null) return html`<p>Full access: everything that you may do.</p>`
  const lines = scopes.map((scope) => html`<li>${words[scope] ?? scope}</li>`)
  const count = scopes.length === 1 ? '1 permission' : `${scopes.length} permissions`
  const named = preset === null ? count : `${title(preset)}: ${count}`
  return html`<details><summary>${named}</summary><ul>${lines}</ul></details>`
}

const rotateForm = ({ id, name }: ShownToken, { formToken, once }: TokensFacts): Html => {
  const grace = {
    id: `grace-${id}`,
    name: 'grace_seconds',
    label: 'The old secret stops',
    options: GRACES,
    chosen: '0',
  }
  return html`<details><summary>Rotate${visuallyHidden(` ${name}`)}</summary>
${form({ action: `${TOKENS_PATH}/${id}/rotate`, formToken }, [
  hiddenField('once', once),
  selectField(grace),
  button({ words: 'Make a new secret', tone: 'plain' }),
])}</details>`
}

const revokeForm = ({ id, name }: ShownToken, { formToken }: TokensFacts): Html =>
  html`<details><summary>Revoke${visuallyHidden(` ${name}`)}</summary>
${form({ action: `${TOKENS_PATH}/${id}/revoke`, formToken }, [
  html`<p>Whatever uses this token stops working. This cannot be undone.</p>`,
  button({ words: `Revoke ${name}`, tone: 'danger' }),
])}</details>`

const tokenItem = (token: ShownToken, facts: TokensFacts): Html => {
  const { catalogue, nowMs } = facts
  const { name, expires_at: expires, last_used_at: used, previous_until: previous } = token
  const isOver = expires !== null && Date.parse(expires) <= nowMs
  const graced = previous !== null && Date.parse(previous) > nowMs ? previous : null
  return html`<li>
<h3>${name}</h3>
${mayOf(token, catalogue)}
<dl class="facts">
${fact('Made', instant(token.created_at))}
${fact('Last used', used === null ? 'Never' : instant(used))}
${fact(isOver ? 'Expired' : 'Expires', expires === null ? 'When it is revoked' : instant(expires))}
${graced !== null && fact('Old secret opens until', instant(graced))}
</dl>
<div class="row">${!isOver && rotateForm(token, facts)}${revokeForm(token, facts)}</div>
</li>`
}

const presetChoices = ({ presets }: Catalogue, chosen: string): Html[] =>
  [
    ...Object.entries(presets).map(([value, { description }]) => ({ value, label: title(value), hint: description })),
    { value: OWN_CHOICE, label: 'Only what I pick below', hint: 'Pick at least one permission.' },
  ].map((one) =>
    choice({ type: 'radio', id: `choice-${one.value}`, name: 'choice', isChosen: one.value === chosen, ...one }),
  )

const scopeChoices = ({ scopes }: Catalogue, picked: readonly string[]): Html[] =>
  Object.entries(scopes).map(([value, label]) => {
    const one = { value, label, hint: value, isChosen: picked.includes(value) }
    return choice({ type: 'checkbox', id: `scope-${value}`, name: 'scope', ...one })
  })

const mintForm = ({ catalogue, fault, draft = START, formToken, once }: TokensFacts): Html => {
  const isOwn = draft.choice === OWN_CHOICE
  const name = {
    id: 'name',
    label: 'Name',
    hint: 'Where it will be used, so that you know it again.',
    autocomplete: 'off',
    maxLength: NAME_MAX,
    value: draft.name,
  } as const
  return html`<section aria-labelledby="mint">
<h2 id="mint">New token</h2>
${fault !== undefined && notice('fault', fault)}
${form({ action: TOKENS_PATH, formToken }, [
  hiddenField('once', once),
  inputField(name),
  html`<fieldset><legend>What it may do</legend>${presetChoices(catalogue, draft.choice)}</fieldset>`,
  html`<details${isOwn && html` open`}><summary>Single permissions</summary>
<fieldset><legend class="visually-hidden">Permissions</legend>${scopeChoices(catalogue, draft.scopes)}</fieldset></details>`,
  selectField({ id: 'days', label: 'It opens for', options: LIFETIMES, chosen: draft.days }),
  button({ words: 'Make token' }),
])}
</section>`
}

const signOut = (formToken: string): Html =>
  form({ action: '/signout', formToken }, button({ words: 'Sign out', tone: 'plain' }))

export const tokensPage = (facts: TokensFacts): string => {
  const { email, tokens, total, formToken, done } = facts
  const list =
    tokens.length === 0
      ? html`<p>There is none yet.</p>`
      : html`<ul class="tokens">${tokens.map((token) => tokenItem(token, facts))}</ul>`
  const more =
    total > tokens.length && html`<p class="hint">${tokens.length} of ${total} are shown, the newest first.</p>`
  return accountPage({
    title: 'Your tokens',
    layout: 'wide',
    at: TOKENS_PATH,
    isReviewer: facts.isReviewer ?? false,
    main: html`${accountHeader('Your tokens', email, signOut(formToken))}
${done !== undefined && notice('good', done)}
<p>A token lets a program act in your name. Keep each one secret, and give it no more than it needs.</p>
<section aria-labelledby="tokens"><h2 id="tokens">Tokens</h2>${list}${more}</section>
${mintForm(facts)}`,
  })
}

/** Shows a new secret, this once. */
export const secretPage = (facts: { name: string; secret: string; rotated: boolean }): string =>
  accountPage({
    title: 'New secret',
    layout: 'wide',
    main: html`<h1>${facts.rotated ? 'A new secret for' : 'The token'} ${facts.name}</h1>
${notice('note', 'Copy it now: it is shown this once, and we keep no copy that can be read.')}
<p class="secret" id="secret">${facts.secret}</p>
<p>${buttonLink(TOKENS_PATH, 'I have copied it')}</p>`,
  })
