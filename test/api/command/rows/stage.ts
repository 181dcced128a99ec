import { startCardStandIn } from '../../../../hack/stage/cardstandin.ts'
import { SECRET_KEY, WEBHOOK_SECRET } from '../../../support/doubles/cards.ts'
import { addAccount } from '../../../support/stage/callers.ts'
import { call, eventually, type Given, startPlatform } from '../../../support/stage/invoicing.ts'
import { AWAY, type TableStage } from './row.ts'

/** As an SSH server would say it: the name of the algorithm, and 32 bytes. */
const wire = (bytes: Buffer): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
export const HOST_KEY = `ssh-ed25519 ${Buffer.concat([wire(Buffer.from('ssh-ed25519')), wire(Buffer.alloc(32, 7))]).toString('base64')}`

const COST_CAP_USD = 50_000

/** The platform with its callers, a card processor, and a host that is away. @param given other ways to its parts */
export const startTableStage = async (given: Pick<Given, 'kubeconfigs' | 'through'> = {}): Promise<TableStage> => {
  const cards = await startCardStandIn({
    secretKey: SECRET_KEY,
    webhookSecret: WEBHOOK_SECRET,
    webhookUrl: () => `${platform.baseUrl}/api/collect/stripe/webhook`,
  })
  const env = {
    BOTTEGA_RATE_PER_SECOND: '1000',
    BOTTEGA_EGRESS_ALLOW_LOOPBACK: 'true',
    BOTTEGA_STRIPE_SECRET_KEY: SECRET_KEY,
    BOTTEGA_STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    BOTTEGA_STRIPE_API_BASE: cards.apiBase,
  }
  const platform = await startPlatform({ ...given, env })
  const { owner } = platform
  const ask: TableStage['ask'] = (by, method, path, body, headers) =>
    call(platform.baseUrl, by, method, path, body, headers)
  const sure: TableStage['sure'] = async (...asked) => {
    const { status, json, text } = await ask(...asked)
    if (status >= 202 && status !== 204) throw new Error(`${asked[1]} ${asked[2]}: ${status} ${text}`)
    return json
  }
  const [reviewer, boxer, admin] = await Promise.all([
    addAccount(platform, 'reviewer', { role: 'reviewer' }),
    addAccount(platform, 'boxer', { capabilities: ['devbox.manage'], teams: ['studio'] }),
    addAccount(platform, 'boss', { role: 'admin', capabilities: ['app.deploy', 'devbox.manage'] }),
  ])
  const patch = (account: string, spec: object) =>
    platform.kubectl(['patch', 'acct', account, '--type=merge', '-p', JSON.stringify({ spec })])
  await patch('demo', { capabilities: ['app.deploy'], limits: { sendsPerDay: 1_000, webhookEndpoints: 100 } })
  await patch('boxer', { costCapUsd: COST_CAP_USD })
  await platform.kubectl(['apply', '-f', '-'], {
    apiVersion: 'bottega.dev/v1alpha1',
    kind: 'Host',
    metadata: { name: AWAY },
    spec: {
      address: '127.0.0.1',
      port: 9,
      user: 'deploy',
      hostKey: HOST_KEY,
      baseDomain: 'away.test',
      class: 'shared',
      approved: true,
      takesSites: true,
      siteRoot: '/srv/sites',
    },
  })
  await eventually(
    'a host and the capability',
    async () => (await ask(owner, 'POST', '/api/apps', { slug: 'first' })).status === 201,
  )
  await eventually(
    'the cap',
    async () => (await ask(boxer, 'GET', '/api/devboxes')).json.capMonthlyUsd === COST_CAP_USD,
  )
  const end = () => platform.end().finally(() => cards.stop())
  return { platform, owner, reviewer, boxer, admin, ask, sure, end }
}
