import { majorityOf, makeLookForProof } from '../../../controllers/net/proof.ts'
import type { NameLook } from '../../../crds/names/life.ts'
import { wantedProof } from '../../../crds/names/proof.ts'
import { type NamesServer, type NamesZone, startNamesServer } from '../../support/doubles/namesserver.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const NAME = 'www.shop.example'
const TXT = `_bottega-challenge.${NAME}`
const TOKEN = 'ab12'
const wanted = wantedProof(NAME, TOKEN, ['sites.test'])
const proven = { [TXT]: () => ({ txt: ['other', `bottega-verification=${TOKEN}`] }) }

spec('a look for the proof of a name', (t) => {
  const servers: NamesServer[] = []
  const serve = async (zone: NamesZone): Promise<string> => {
    const server = await startNamesServer(zone)
    servers.push(server)
    return server.address
  }
  const look = async (...zones: NamesZone[]): Promise<NameLook> =>
    makeLookForProof(await Promise.all(zones.map(serve)))(wanted)
  const said = (one: NameLook): string => (one.found === null ? `${one.answer}: ${one.detail}` : one.found)
  t.after.each(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()))
  })

  t('sees a TXT record, also one behind an alias of the owner’s', async () => {
    assert.is(said(await look(proven)), 'txt')
    const delegated = { [TXT]: () => ({ alias: 'proof.other.example', txt: [`bottega-verification=${TOKEN}`] }) }
    assert.is(said(await look(delegated)), 'txt')
  })

  t('sees an alias that was told to this account', async () => {
    assert.is(said(await look({ [NAME]: () => ({ alias: 'site-ab12.sites.test' }) })), 'cname')
  })

  t('says what is there instead', async () => {
    assert.is(said(await look({})), `absent: ${TXT} has no TXT record`)
    const other = {
      [TXT]: () => ({ txt: ['bottega-verification=ffff'] }),
      [NAME]: () => ({ alias: 'site-ff.sites.test' }),
    }
    assert.match(
      said(await look(other)),
      /^absent: the TXT records of .* are "bottega-verification=ffff"; .* alias of "site-ff/,
    )
  })

  t('of a base domain asks for the text, and by a name that nobody has set where all below it leads', async () => {
    const base = wantedProof('*.shop.example', TOKEN, ['sites.test'])
    const text = { '_bottega-challenge.shop.example': () => ({ txt: [`bottega-verification=${TOKEN}`] }) }
    const below = (a: string[]) => ({ '*.shop.example': () => ({ a }) })
    const seen = async (zone: NamesZone, isNeeded = true, addresses = ['192.0.2.1']) => {
      const wildcard = { probe: 'probe-1.shop.example', addresses, isNeeded }
      return makeLookForProof([await serve(zone)])({ ...base, wildcard })
    }
    const both = await seen({ ...text, ...below(['192.0.2.1']) })
    assert.is(said(both), 'txt')
    assert.equal(both.checks, [
      {
        name: '_bottega-challenge.shop.example',
        type: 'TXT',
        expected: `bottega-verification=${TOKEN}`,
        seen: [`bottega-verification=${TOKEN}`],
        ok: true,
      },
      { name: 'probe-1.shop.example', type: 'A', expected: '192.0.2.1', seen: ['192.0.2.1'], ok: true },
    ])
    const elsewhere = await seen({ ...text, ...below(['192.0.2.9']) })
    assert.match(said(elsewhere), /^absent: the text is there; probe-1.* leads to "192.0.2.9" and not to 192.0.2.1$/)
    assert.equal(
      elsewhere.checks?.map(({ ok }) => ok),
      [true, false],
    )
    assert.match(said(await seen(text)), /leads nowhere and not to 192.0.2.1$/)
    assert.match(said(await seen(below(['192.0.2.1']))), /^absent: .* has no TXT record$/)
    assert.is(said(await seen({ ...text, ...below(['192.0.2.1', '192.0.2.9']) })).slice(0, 6), 'absent', 'all of them')
    assert.is(said(await seen(text, false)), 'txt', 'once it was proven, only the text counts')
    const failing = { ...text, '*.shop.example': () => ({ fault: 'servfail' as const }) }
    assert.match(said(await seen(failing)), /^silent: .*SERVFAIL/)
    assert.is(said(await seen(failing, false)), 'txt')
    const named = { ...text, ...below(['192.0.2.1']), 'host.example': () => ({ a: ['192.0.2.1'] }) }
    assert.is(said(await seen(named, true, ['host.example'])), 'txt', 'a host that is known by a name')
  })

  t('takes no answer for a no from nobody: refused, failed, silent or not there', async () => {
    const faulty = (fault: 'servfail' | 'refused' | 'silence') => ({
      [TXT]: () => ({ fault }),
      [NAME]: () => ({ fault }),
    })
    assert.match(said(await look(faulty('servfail'))), /^silent: .*SERVFAIL/)
    assert.match(said(await look(faulty('refused'))), /^silent: .*refuses/)
    assert.match(said(await look(faulty('silence'))), /^silent: .*in time/)
    const gone = await startNamesServer({})
    await gone.close()
    assert.match(said(await makeLookForProof([gone.address])(wanted)), /^silent: /)
    // Half a no is none.
    assert.match(said(await look({ [NAME]: () => ({ fault: 'servfail' }) })), /^silent: /)
  })

  t('reads no more than it has to, however much there is', async () => {
    const many = Array.from({ length: 3 }, (_, n) => `${n}`.repeat(200))
    assert.is(said(await look({ [TXT]: () => ({ txt: [...many, `bottega-verification=${TOKEN}`] }) })), 'txt')
  })

  t('believes more than half of several servers, and none of them alone', async () => {
    assert.is(said(await look(proven, proven, {})), 'txt')
    assert.match(said(await look({}, {}, proven)), /^absent: /)
    assert.match(said(await look(proven, {})), /^silent: 1 of 2 servers of names see the record/)
    assert.match(said(majorityOf([])), /^silent: no server/)
  })
})
