/** The page of one's tokens: what there is, what each may do in plain words, and forms to mint, rotate and revoke. */
import { type Html, html, safeUrl } from '../../crds/text/html.ts'
import { accountPage } from '../page/frame.ts'

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
export const LIFETIMES: readonly (readonly [days: string, words: string])[] = [
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'A year'],
  ['', 'Until it is revoked'],
]
/** Seconds for which the old secret still opens. */
export const GRACES: readonly (readonly [seconds: string, words: string])[] = [
  ['0', 'At once'],
  ['3600', 'In an hour'],
  ['86400', 'In 24 hours'],
]
const START: TokenDraft = { name: '', choice: 'invoicing', scopes: [], days: '90' }

const time = (iso: string): Html => html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`
const fact = (name: string, value: Html): Html => html`<div><dt>${name}</dt><dd>${value}</dd></div>`
const guard = (formToken: string): Html => html`<input type="hidden" name="form_token" value="${formToken}">`
const sentOnce = ({ formToken, once }: TokensFacts): Html =>
  html`${guard(formToken)}<input type="hidden" name="once" value="${once}">`

const title = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1).replace('-', ' ')

const mayOf = ({ scopes, preset }: ShownToken, { scopes: words }: Catalogue): Html => {
  if (scopes === null) return html`<p>Full access: everything that you may do.</p>`
  const lines = scopes.map((scope) => html`<li>${words[scope] ?? scope}</li>`)
  const count = scopes.length === 1 ? '1 permission' : `${scopes.length} permissions`
  const named = preset === null ? count : `${title(preset)}: ${count}`
  return html`<details><summary>${named}</summary><ul>${lines}</ul></details>`
}

const options = (choices: typeof LIFETIMES, chosen: string): Html[] =>
  choices.map(
    ([value, words]) => html`<option value="${value}"${value === chosen && html` selected`}>${words}</option>`,
  )

const tokenItem = (token: ShownToken, facts: TokensFacts): Html => {
  const { catalogue, formToken, nowMs } = facts
  const { id, name, expires_at: expires, last_used_at: used, previous_until: previous } = token
  const isOver = expires !== null && Date.parse(expires) <= nowMs
  const graced = previous !== null && Date.parse(previous) > nowMs ? previous : null
  const act = (verb: string) => safeUrl(`/account/tokens/${id}/${verb}`)
  return html`<li>
<h3>${name}</h3>
${mayOf(token, catalogue)}
<dl class="facts">
${fact('Made', time(token.created_at))}
${fact('Last used', used === null ? html`Never` : time(used))}
${fact(isOver ? 'Expired' : 'Expires', expires === null ? html`When it is revoked` : time(expires))}
${graced !== null && fact('Old secret opens until', time(graced))}
</dl>
<div class="acts">
${
  !isOver &&
  html`<details><summary>Rotate<span class="for"> ${name}</span></summary>
<form method="post" action="${act('rotate')}">${sentOnce(facts)}
<div class="field"><label for="grace-${id}">The old secret stops</label><select id="grace-${id}" name="grace_seconds">${options(GRACES, '0')}</select></div>
<button class="plain" type="submit">Make a new secret</button></form></details>`
}
<details><summary>Revoke<span class="for"> ${name}</span></summary>
<form method="post" action="${act('revoke')}">${guard(formToken)}
<p>Whatever uses this token stops working. This cannot be undone.</p>
<button class="danger" type="submit">Revoke ${name}</button></form></details>
</div>
</li>`
}

const choice = (value: string, { description, chosen }: { description: string; chosen: boolean }): Html =>
  html`<div class="choice"><input type="radio" id="choice-${value}" name="choice" value="${value}" aria-describedby="about-${value}"${chosen && html` checked`}>
<label for="choice-${value}">${value === OWN_CHOICE ? 'Only what I pick below' : title(value)}</label><p class="hint" id="about-${value}">${description}</p></div>`

const mintForm = (facts: TokensFacts): Html => {
  const { catalogue, fault, draft = START } = facts
  return html`<section aria-labelledby="mint">
<h2 id="mint">New token</h2>
<form method="post" action="/account/tokens">${sentOnce(facts)}
${fault !== undefined && html`<p class="fault" id="fault" role="alert">${fault}</p>`}
<div class="field"><label for="name">Name</label>
<input id="name" name="name" type="text" required maxlength="100" autocomplete="off" value="${draft.name}" aria-describedby="name-hint${fault === undefined ? '' : ' fault'}">
<p class="hint" id="name-hint">Where it will be used, so that you know it again.</p></div>
<fieldset><legend>What it may do</legend>
${Object.entries(catalogue.presets).map(([name, { description }]) => choice(name, { description, chosen: draft.choice === name }))}
${choice(OWN_CHOICE, { description: 'Pick at least one permission.', chosen: draft.choice === OWN_CHOICE })}
</fieldset>
<details${draft.choice === OWN_CHOICE && html` open`}><summary>Single permissions</summary>
<fieldset><legend>Permissions</legend>
${Object.entries(catalogue.scopes).map(
  ([
    scope,
    words,
  ]) => html`<div class="choice"><input type="checkbox" id="scope-${scope}" name="scope" value="${scope}"${draft.scopes.includes(scope) && html` checked`}>
<label for="scope-${scope}">${words}</label><p class="hint">${scope}</p></div>`,
)}
</fieldset></details>
<div class="field"><label for="days">It opens for</label><select id="days" name="days">${options(LIFETIMES, draft.days)}</select></div>
<button type="submit">Make token</button>
</form>
</section>`
}

const topOf = (email: string, formToken: string): Html => html`<header>
<div><h1>Your tokens</h1><p>Signed in as ${email}</p></div>
<form method="post" action="/signout">${guard(formToken)}<button class="plain" type="submit">Sign out</button></form>
</header>`

export const tokensPage = (facts: TokensFacts): string => {
  const { email, tokens, total, formToken, done } = facts
  const list =
    tokens.length === 0
      ? html`<p>There is none yet.</p>`
      : html`<ul class="tokens">${tokens.map((token) => tokenItem(token, facts))}</ul>`
  const more =
    total > tokens.length && html`<p class="hint">${tokens.length} of ${total} are shown, the newest first.</p>`
  return accountPage(
    'Your tokens',
    html`<main class="wide">
${topOf(email, formToken)}
${done !== undefined && html`<p class="good" role="status">${done}</p>`}
<p>A token lets a program act in your name. Keep each one secret, and give it no more than it needs.</p>
<section aria-labelledby="tokens"><h2 id="tokens">Tokens</h2>${list}${more}</section>
${mintForm(facts)}
</main>`,
  )
}

/** Shows a new secret, this once. */
export const secretPage = (facts: { name: string; secret: string; rotated: boolean }): string =>
  accountPage(
    'New secret',
    html`<main class="wide">
<h1>${facts.rotated ? 'A new secret for' : 'The token'} ${facts.name}</h1>
<p class="note" role="status">Copy it now: it is shown this once, and we keep no copy that can be read.</p>
<p class="secret" id="secret">${facts.secret}</p>
<p><a class="button" href="/account/tokens">I have copied it</a></p>
</main>`,
  )
