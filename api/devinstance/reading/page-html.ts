/** The page of one's dev instances: how each stands and why, what it costs, how to get in, and what is on it. */
import { DEVBOXES_PAGE, editorLinksOf, sshNameOf } from '../../../crds/devinstance/page.ts'
import { type Html, html } from '../../../crds/text/html.ts'
import { accountHeader, accountPage } from '../../page/account.ts'
import { fact, instant } from '../../page/facts.ts'
import { visuallyHidden } from '../../page/form.ts'

/** USD with two decimals; null where they are not the reader's to know. */
export type ShownCost = { spentUsd: number; forecastUsd: number } | null
export type ShownBox = {
  id: string
  name: string
  owner: string
  state: string
  /** Why it is on, or is not, in words. */
  why: string
  /** It has a machine, which is off. */
  isDown: boolean
  size: string
  address: string | null
  hostKeys: readonly string[]
  runningMonthlyUsd: number
  stoppedMonthlyUsd: number
  cost: ShownCost
  conditions: readonly { type: string; message: string }[]
  events: readonly { kind: string; at: string }[]
  keys: readonly { account: string; name: string; fingerprint: string }[]
  /** Whether the machine lets in exactly these; null: it has not said. */
  onMachine: boolean | null
}
export type BoxesFacts = {
  email: string
  isReviewer: boolean
  /** YYYY-MM. */
  month: string
  capUsd: number
  committedUsd: number
  boxes: readonly ShownBox[]
  total: number
}

const usd = (amount: number): string => `${amount.toFixed(2)} USD`
const plural = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`

/** In px, for each bar: its words stand above it. */
const BAR = { words: 14, top: 20, height: 14, step: 46 }

/** Letters of a name above a bar, which does not wrap: the whole one stands above, and in the description. */
const NAME_SHOWN = 20
const shortened = (name: string): string => (name.length <= NAME_SHOWN ? name : `${name.slice(0, NAME_SHOWN - 1)}…`)

type Costed = ShownBox & { cost: NonNullable<ShownCost> }
const isCosted = (box: ShownBox): box is Costed => box.cost !== null

/** What each box of an owner has spent, before what the month comes to; all owners to one scale. */
const chart = (owner: string, boxes: readonly Costed[], most: number): Html => {
  const share = (amount: number): number => Math.round((amount / most) * 1000) / 10
  const bars = boxes.map(({ name, cost }, place) => {
    const top = place * BAR.step
    const bar = (tone: string, amount: number) =>
      html`<rect class="${tone}" x="0" y="${top + BAR.top}" width="${share(amount)}%" height="${BAR.height}" rx="2"/>`
    return html`<text x="0" y="${top + BAR.words}">${shortened(name)}: ${usd(cost.spentUsd)} of ${usd(cost.forecastUsd)}</text>${bar('coming', cost.forecastUsd)}${bar('plain', cost.spentUsd)}`
  })
  const told = boxes.map(
    ({ name, cost }) => `${name} ${usd(cost.spentUsd)} until now, ${usd(cost.forecastUsd)} by its end`,
  )
  const id = `cost-${owner.replace(/[^A-Za-z0-9-]/g, '-')}`
  return html`<h3>${owner}</h3><svg class="bars" role="img" aria-labelledby="${id}-title ${id}-about" height="${boxes.length * BAR.step}">
<title id="${id}-title">Cost of the dev instances of ${owner} in this month</title><desc id="${id}-about">${told.join(', ')}</desc>${bars}</svg>`
}

const charts = (boxes: readonly ShownBox[], month: string): Html | false => {
  const costed = boxes.filter(isCosted)
  if (costed.length === 0) return false
  const most = Math.max(0.01, ...costed.map(({ cost }) => Math.max(cost.forecastUsd, cost.spentUsd)))
  const byOwner = [...Map.groupBy(costed, ({ owner }) => owner)].sort(([a], [b]) => (a < b ? -1 : 1))
  return html`<section aria-labelledby="costs"><h2 id="costs">Cost of ${month}</h2>
<p class="hint">Spent until now, before what the month comes to if nothing changes.</p>
${byOwner.map(([owner, theirs]) => chart(owner, theirs, most))}</section>`
}

const command = (line: string): Html => html`<p class="secret">${line}</p>`

/** A link that an editor on this machine opens. */
const editorLink = (url: string, words: string, of: string): Html =>
  html`<a class="button plain" href="${url}">${words}${visuallyHidden(`, ${of}`)}</a>`

const wayIn = (box: ShownBox): Html => {
  const { name, address, hostKeys, isDown } = box
  if (address === null && !isDown) return html`<p>It has no address at present: nobody can log in.</p>`
  const { vscode, jetbrains } = editorLinksOf(box)
  const first = isDown && html`<p>It is off. Start it first:</p>${command(`bottega devbox start ${name}`)}`
  return html`${first}<p>Once, so that its host keys are known: they are those that it attested.</p>
${command(`bottega devbox config ${name} > ~/.ssh/bottega-${name}`)}
<p>Put <code>Include bottega-${name}</code> in the first line of <code>~/.ssh/config</code>. Then:</p>
${command(`ssh ${sshNameOf(box)}`)}
<div class="row">${editorLink(vscode, 'Open in VS Code', name)}${editorLink(jetbrains, 'Open in JetBrains Gateway', name)}</div>
<p class="hint">${address === null ? 'It has an address once it is on.' : `Address ${address}.`} ${hostKeys.length === 0 ? 'It has told no host key.' : `Host keys: ${hostKeys.join(', ')}`}</p>`
}

const ON_MACHINE = {
  yes: 'The machine has said that it lets in these.',
  no: 'The machine lets in others still; it has these with its next report.',
  unknown: 'The machine has not said whom it lets in.',
} as const

const keysOf = ({ keys, onMachine }: ShownBox): Html => {
  const words = onMachine === null ? ON_MACHINE.unknown : onMachine ? ON_MACHINE.yes : ON_MACHINE.no
  const list = keys.map(({ account, name, fingerprint }) => html`<li>${name} of ${account}, ${fingerprint}</li>`)
  return keys.length === 0
    ? html`<p>No public key of an account opens it. Add one with bottega keys add, or POST /api/account/ssh-keys.</p>`
    : html`<ul>${list}</ul><p class="hint">${words}</p>`
}

const detail = (words: string, of: string, content: Html): Html =>
  html`<details><summary>${words}${visuallyHidden(` ${of}`)}</summary>${content}</details>`

const boxItem = (box: ShownBox): Html => {
  const { name, owner, state, why, size, cost, conditions, events } = box
  const history = events.map(({ kind, at }) => html`<li>${kind}, ${instant(at)}</li>`)
  return html`<li>
<h3>${name}</h3>
<p>${state}: ${why}</p>
${conditions.map(({ type, message }) => html`<p class="hint">${type}: ${message}</p>`)}
<dl class="facts">
${fact('Owner', owner)}
${fact('Size', size)}
${fact('A month, running', usd(box.runningMonthlyUsd))}
${fact('A month, stopped', usd(box.stoppedMonthlyUsd))}
${cost !== null && fact('This month', usd(cost.spentUsd))}
${cost !== null && fact('By its end', usd(cost.forecastUsd))}
</dl>
<div class="row">${detail('Get in', name, wayIn(box))}${detail('Who may', name, keysOf(box))}${detail('What happened', name, html`<ul>${history}</ul>`)}</div>
</li>`
}

/** What the user data makes of a fresh machine, in the order of what a person meets. */
const BOOTSTRAP = [
  'One user, dev, who logs in with a key and never with a password; root does not log in.',
  'The agents that were chosen, each installed from archives whose digests are pinned, and none updates itself. They share three quarters of the memory: what leaks ends, and not the machine.',
  'A work tree at ~/repo that is a git remote: push to it, and the files are there. Docker comes when the work tree asks for it.',
  'A report once a minute of memory, disk, what is not pushed and what keeps it awake. Of files it tells how many.',
  'It stops itself when nobody has used it for as long as its policy says, after two warnings; not while work is nowhere else, unless the policy says so.',
  'Public keys of people come and go with each report; the environment comes once to each start, sealed to that machine, and lies in memory.',
  'There is no secret in the user data, which can be read with GET /api/devboxes/:id/bootstrap.',
] as const

const explained = (): Html =>
  html`<section aria-labelledby="made"><h2 id="made">What is on a dev instance</h2><ul>${BOOTSTRAP.map((line) => html`<li>${line}</li>`)}</ul></section>`

export const boxesPage = (facts: BoxesFacts): string => {
  const { email, boxes, total, capUsd, committedUsd } = facts
  const list =
    boxes.length === 0
      ? html`<p>There is none yet. Reserve one: <code>bottega devbox reserve</code>.</p>`
      : html`<ul class="tokens">${boxes.map(boxItem)}</ul>`
  const more =
    total > boxes.length && html`<p class="hint">${boxes.length} of ${total} are shown, the newest first.</p>`
  return accountPage({
    title: 'Your dev instances',
    layout: 'wide',
    at: DEVBOXES_PAGE,
    isReviewer: facts.isReviewer,
    main: html`${accountHeader('Your dev instances', email, html``)}
<p>${plural(total, 'dev instance')}, committed to ${usd(committedUsd)} of the ${usd(capUsd)} that they may cost in a month.</p>
<section aria-labelledby="boxes"><h2 id="boxes">Dev instances</h2>${list}${more}</section>
${charts(boxes, facts.month)}
${explained()}`,
  })
}
