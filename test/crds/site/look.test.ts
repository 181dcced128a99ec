import { generateKeyPairSync } from 'node:crypto'
import { planSite } from '../../../crds/site/plan.ts'
import {
  certificateState,
  fileState,
  jwsIn,
  overallState,
  statementIn,
} from '../../../crds/site/publishing/attestation.ts'
import { isProven, LOOK_AGAIN_MS, lookTarget, wantedPages } from '../../../crds/site/publishing/look.ts'
import { signStatement, statementKeys, verifyStatement } from '../../../crds/site/publishing/signature.ts'
import { STATEMENT_PATH, statementOf, statementText } from '../../../crds/site/publishing/statement.ts'
import type { SiteLook, SiteWorld } from '../../../crds/site/world.ts'
import { canonical } from '../../../crds/values/canonical.ts'
import {
  approved,
  decision,
  homed,
  NOW,
  release,
  site,
  siteName,
  submission,
  switchTo,
  turn,
} from '../../support/builders/sites/site.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const SOON = '2026-11-22T10:00:30.000Z'
const live = site({ publish: true, subdomain: 'shop' })
type Seen = SiteLook & { state: 'seen' }
const seen = (change: Partial<Seen> = {}): Seen => ({
  ...{ state: 'seen', strayed: [], unserved: null, pages: [], route: 'right', tries: 0, nextAt: SOON },
  ...change,
})
const lived = (change: Partial<SiteWorld> = {}): SiteWorld => ({
  ...homed(live),
  ...approved,
  switches: [switchTo(1, release(1))],
  look: seen(),
  ...change,
})

const planned = (of: SiteWorld, object = live): string => {
  const { steps, verdict } = planSite(object, of)
  const why = verdict.state === 'stalled' ? verdict.code : verdict.reason
  return [...steps.map((step) => step.do), `${verdict.state} ${why}`].join(' ')
}

spec('a live site that was looked at', (t) => {
  const PUT_BACK = 'noteDrift upload switchFiles waiting Restoring'
  const CASES: [sentence: string, of: SiteWorld, planned: string][] = [
    ['is ready when all is right', lived(), 'ready Live'],
    ['has files put back', lived({ look: seen({ strayed: ['index.html'] }) }), PUT_BACK],
    [
      'has files and its route put back',
      lived({ look: seen({ strayed: ['index.html'], route: 'wrong' }) }),
      'noteDrift upload switchFiles setRoute restoreProxy waiting Restoring',
    ],
    [
      'has its route put back where nobody serves it',
      lived({ look: seen({ unserved: 'CLOSED', route: 'wrong' }) }),
      'noteDrift setRoute restoreProxy waiting Restoring',
    ],
    [
      'has its route put back where all pages are right',
      lived({ look: seen({ route: 'wrong' }) }),
      'noteDrift setRoute restoreProxy waiting Restoring',
    ],
    [
      'has its route renewed where what is wanted is newer',
      lived({ look: seen({ route: 'outdated' }) }),
      'noteDrift setRoute waiting Restoring',
    ],
    ['has its folder opened where only pages are wrong', lived({ look: seen({ pages: ['/ answers 403'] }) }), PUT_BACK],
    [
      'says what a person has to do when it did not help',
      lived({ look: seen({ pages: ['/ answers 403'], tries: 3 }) }),
      'waiting NotServed',
    ],
    [
      'says that it is changed again and again',
      lived({ look: seen({ strayed: ['index.html'], tries: 3 }) }),
      'waiting NotRestored',
    ],
    ['says that its certificate is missing', lived({ look: seen({ unserved: 'OTHER_NAME' }) }), 'waiting Certificate'],
    [
      'says that its proxy is down, and nothing of certificates',
      lived({ look: seen({ unserved: 'NOBODY_LISTENS' }) }),
      'waiting ProxyDown',
    ],
    [
      'says nothing of certificates when it was cut off',
      lived({ look: seen({ unserved: 'CUT' }) }),
      'waiting NotServed',
    ],
    [
      'is not ready while its host cannot be looked at',
      lived({ look: { state: 'unseen', reason: 'HostUnreachable', message: 'host h1 does not answer', nextAt: SOON } }),
      'waiting HostUnreachable',
    ],
    [
      'has its files put back though nobody will approve its edit',
      lived({ submissions: [], decisions: [], look: seen({ strayed: ['index.html'] }) }),
      PUT_BACK,
    ],
  ]
  for (const [sentence, of, wanted] of CASES) t(sentence, () => assert.is(planned(of), wanted))

  t('is looked at again by itself, and tells of drift only where somebody changed what was live', () => {
    assert.is(planSite(live, lived()).wakeAt, SOON)
    const driftOf = (of: SiteWorld) =>
      planSite(live, of).steps.flatMap((step) => (step.do === 'noteDrift' ? step.drift : []))
    assert.equal(driftOf(lived({ look: seen({ strayed: ['index.html'] }) })), ['index.html'])
    assert.equal(driftOf(lived({ look: seen({ strayed: [STATEMENT_PATH] }) })), [], 'signed by another root')
    assert.equal(driftOf(lived({ look: seen({ route: 'outdated' }) })), [], 'ours is newer')
    assert.equal(driftOf(lived({ look: seen({ route: 'wrong' }) })), ['the route'])
    const going = { turn: turn({ stage: 'switched' }), switches: [], reservedDigests: ['d1'] }
    assert.equal(driftOf(lived({ ...going, look: seen({ strayed: ['index.html'] }) })), [])
    assert.ok(LOOK_AGAIN_MS < 60_000)
  })

  t('is not looked at when it is to be taken down, or goes', () => {
    assert.ok(lookTarget(live, lived()))
    assert.is(lookTarget(site({ publish: false, subdomain: 'shop' }), lived()), null)
    assert.is(lookTarget(site(live.spec, { deletionTimestamp: NOW }), lived()), null)
    assert.is(lookTarget(live, lived({ switches: [] })), null)
  })

  t('is told to browsers as TLS alone once it was served under a name that is proven', () => {
    assert.is(isProven(lived({ switches: [] }), 'shop.sites.test'), false)
    assert.is(isProven(lived(), 'shop.sites.test'), true)
    assert.is(isProven(lived({ names: [siteName('shop', { state: 'missing' })] }), 'shop.sites.test'), false)
  })

  t('waits for its reviewer, and for nobody else, once it is submitted', () => {
    const submitted = { ...homed(live), submissions: [submission(1)] }
    assert.is(planned(submitted), 'waiting InReview')
    const refused = { ...submitted, decisions: [decision(2, 1, 'request_changes')] }
    assert.is(planned(refused), 'stalled NOT_APPROVED')
    assert.is(planned(homed(live)), 'stalled NOT_APPROVED')
  })
})

spec('what a site says of itself', (t) => {
  const seeds = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const sum = (letter: string) => letter.repeat(64)
  const files = [
    { path: 'index.html', sha256: sum('a'), bytes: 1, contentType: 'text/html' },
    { path: 'about/index.html', sha256: sum('b'), bytes: 2, contentType: 'text/html' },
    { path: '404.html', sha256: sum('c'), bytes: 3, contentType: 'text/html' },
    { path: 'assets/1.css', sha256: sum('d'), bytes: 4, contentType: 'text/css' },
    { path: 'assets/2.css', sha256: sum('e'), bytes: 5, contentType: 'text/css' },
  ]
  const of = { issuer: 'https://bottega.test', site: 'site-one', digest: 'd1', reviewer: 'reviewer-1' }
  const attested = { release: 3, hostname: 'shop.sites.test', by: 'reviewer', at: NOW }
  const statement = statementOf(of, attested, files)
  const jws = signStatement(seeds, canonical(statement))
  const about = { site: 'site-one', hostname: 'shop.sites.test', digest: 'd1', files }

  t('is signed so that it can be checked, and always alike', () => {
    assert.is(signStatement(seeds, canonical(statement)), jws)
    assert.equal(statementIn(verifyStatement(seeds, jws) ?? '', about), statement)
    assert.ok(verifyStatement([...seeds].reverse(), jws), 'what another root signed holds')
    assert.is(verifyStatement(seeds.slice(1), jws), null)
    const [header, payload = '', signature] = jws.split('.')
    const other = Buffer.from(payload, 'base64url').toString().replace('"release":3', '"release":4')
    assert.is(verifyStatement(seeds, [header, Buffer.from(other).toString('base64url'), signature].join('.')), null)
    assert.is(verifyStatement(seeds, 'none'), null)
    assert.equal(new Set(statementKeys(seeds).map(({ kid }) => kid)).size, 2)
    assert.is(generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).crv, statementKeys(seeds)[0]?.crv)
  })

  t('names no account, and is of one release alone', () => {
    const text = statementText(statement, jws)
    assert.is(text.includes('"reviewer"') && !text.includes('"by": "reviewer"'), true)
    assert.is(jwsIn(text), jws)
    assert.is(jwsIn('<html>'), null)
    for (const change of [{ site: 'site-two' }, { digest: 'd2' }, { hostname: 'a.test' }, { files: files.slice(1) }]) {
      assert.is(statementIn(canonical(statement), { ...about, ...change }), null, JSON.stringify(Object.keys(change)))
    }
  })

  t('is asked for as visitors do: each page by its folder, what is not found where nothing is, one asset', () => {
    assert.equal(
      wantedPages([
        ...files,
        { path: 'es/404.html', sha256: sum('e') },
        { path: STATEMENT_PATH, sha256: sum('f') },
      ]).map(({ path, status }) => `${status} ${path}`),
      [
        '200 /',
        '200 /about/',
        '404 /.well-known/bottega-nowhere',
        '200 /assets/1.css',
        '404 /es/.well-known/bottega-nowhere',
        '200 /.well-known/bottega-site.json',
      ],
    )
  })

  t('is held against what is served', () => {
    const wanted = { status: 200, sha256: sum('a') }
    assert.is(fileState(wanted, { status: 200, sha256: sum('a') }), 'same')
    assert.is(fileState(wanted, { status: 200, sha256: sum('b') }), 'altered')
    assert.is(fileState(wanted, { status: 404, sha256: sum('b') }), 'missing')
    assert.is(fileState({ status: 404, sha256: sum('c') }, { status: 200, sha256: sum('c') }), 'altered')
    assert.is(fileState(wanted, null), 'unknown')
    assert.is(overallState(['same', 'same'], 'valid'), 'same')
    assert.is(overallState(['same', 'unknown'], 'valid'), 'unknown')
    assert.is(overallState(['unknown', 'missing'], 'unknown'), 'differs')
    assert.is(overallState(['same'], 'other'), 'differs')
    const certified = (...states: Parameters<typeof certificateState>[1]) => certificateState(true, states)
    assert.equal(
      [certified('same'), certified('same', 'unknown'), certified('unknown', 'altered')],
      ['matches', 'unknown', 'differs'],
    )
    assert.is(certificateState(false, ['same']), 'missing')
  })
})
