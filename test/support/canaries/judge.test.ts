/** Secrets that are looked for at the end of a run, with leaks that are planted. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { makePdf } from '../../../controllers/io/pdf/pdf.ts'
import { enclosed } from '../../../crds/invoice/document/enclose.ts'
import { placedInvoice } from '../builders/frozen.ts'
import { assert, spec } from '../runner/spec.ts'
import { credentialsIn, linesOfKey } from './answers.ts'
import { textOf } from './documents.ts'
import { formsOf } from './forms.ts'
import { judgeCanaries } from './judge.ts'
import { PLACES, type Place, SECRET_NAMES, SECRETS } from './kinds.ts'
import type { Canary } from './plant.ts'

const TOKEN: Canary = { kind: 'token', text: 'Zm9vYmFyLXBsYW50ZWQtdG9rZW4' }
const PASSWORD: Canary = { kind: 'password of a page', text: 'k7mT2pWq9Rbx' }
const ROOT: Canary = {
  kind: 'root',
  text: Buffer.from(Array.from({ length: 32 }, (_, n) => (n * 37 + 11) % 256)).toString('base64'),
  bytes: true,
}
const PLACE_NAMES = Object.keys(PLACES) as Place[]

spec('secrets at the end of a run', (t) => {
  let folder = ''
  t.before.each(() => {
    folder = mkdtempSync(join(tmpdir(), 'bottega-canaries-'))
  })
  t.after.each(() => rmSync(folder, { recursive: true, force: true }))

  const write = (path: string, text: string | Buffer) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const note = (canaries: readonly Canary[]) =>
    write('planted/1.jsonl', canaries.map((one) => `${JSON.stringify(one)}\n`).join(''))
  const judge = async (isWhole = false, stage: string | null = null) => {
    const printed: string[] = []
    const result = await judgeCanaries(folder, { isWhole, stage }, (line) => printed.push(line))
    return { ...result, printed: printed.join('\n') }
  }

  for (const place of PLACE_NAMES)
    t(`a token in ${PLACES[place]} is found, unless it may be there`, async () => {
      note([TOKEN])
      write(`kept/${place}/a/b`, `before btg_0123456789abcdef_${TOKEN.text}Checks after`)
      const { failed, passed, printed } = await judge()
      const mayBe = place === 'operation'
      assert.equal([failed, passed], mayBe ? [0, 1] : [1, 0], printed)
      if (!mayBe) assert.match(printed, `token in ${PLACES[place]}`)
      assert.not.ok(printed.includes(TOKEN.text), 'the secret itself is not printed')
    })

  t('is found in every encoding, wherever it stands in a longer text', async () => {
    for (const canary of [TOKEN, PASSWORD, ROOT]) {
      const plain = Buffer.from(canary.text, canary.bytes ? 'base64' : 'utf8')
      const open = canary.bytes ? [] : [canary.text]
      const around = [0, 1, 2, 3].flatMap((n) => {
        const whole = Buffer.concat([Buffer.from('"x="'.slice(0, n)), plain, Buffer.from('", "y"')])
        return [whole.toString('base64'), whole.toString('base64url'), whole.toString('hex')]
      })
      for (const [n, text] of [...open, ...around].entries()) {
        note([canary])
        write('kept/log/a', `${'-'.repeat(n)}${text}`)
        assert.is((await judge()).failed, 1, `${canary.kind} as ${text}`)
      }
      assert.ok(
        formsOf(canary).every((form) => form.length >= 12),
        'none is so short that it is found by chance',
      )
    }
  })

  t('is found in a document, whose bytes do not show it', async () => {
    const terms = `Pay with ${TOKEN.text}.`
    const bytes = await makePdf().render(enclosed(placedInvoice({ terms })))
    assert.not.ok(formsOf(TOKEN).some((form) => bytes.includes(form)))
    note([TOKEN])
    write('kept/database/1-documents', textOf(bytes))
    const { failed, printed } = await judge()
    assert.is(failed, 1, printed)
    assert.match(printed, /token in a column that is not sealed: kept\/database\/1-documents/)
    assert.match(printed, /, 1 documents opened/)
  })

  t('is found beside bytes that are no text, and in what the shared parts keep', async () => {
    note([TOKEN])
    const bytes = Buffer.concat([Buffer.from([0, 255, 10, 0]), Buffer.from(TOKEN.text), Buffer.from([0, 200])])
    write('stage/control-plane/etcd/member/wal/0.wal', bytes)
    write('stage/bottega-test-stack-1/api.log.1', bytes)
    write('stage/secret-key', TOKEN.text)
    const { failed, printed } = await judge(false, join(folder, 'stage'))
    assert.is(failed, 2, printed)
    for (const name of ['0.wal', 'api.log.1']) assert.match(printed, name)
  })

  /** The first of each as a catcher has it, a name before the address; the others as they are kept, by whom they went to. */
  const mail = (whom: string, n: number, { text }: Canary) => {
    const headers = `From: us@acme.test\r\nTo: "${'Long name '.repeat(6)}"\r\n <${whom}@acme.test>\r\n\r\n`
    if (n === 1) write(`stage/mail/${whom}-${n}.eml`, `${headers}It asks for: ${text}`)
    else write(`kept/mail/1/${whom}@acme.test/${n}.eml`, `us@acme.test\nIt asks for: ${text}`)
  }
  /** With a stage that stands. */
  const judgeMails = () => {
    write('stage/control-plane/etcd/member/wal/0.wal', '')
    return judge(false, join(folder, 'stage'))
  }

  t('may be mailed to one, and to no other', async () => {
    note([PASSWORD])
    mail('client', 1, PASSWORD)
    mail('client', 2, PASSWORD)
    assert.is((await judgeMails()).failed, 0)
    mail('other', 1, PASSWORD)
    assert.ok((await judgeMails()).failed > 0)
  })

  t('may be mailed to so many as its kind says', async () => {
    const link: Canary = { kind: 'link to a page', text: 'hKDE8j61KvHQwRmaw0QVuJ' }
    note([link])
    for (const whom of ['client', 'owner']) mail(whom, 1, link)
    assert.is((await judgeMails()).failed, 0)
    mail('other', 1, link)
    assert.ok((await judgeMails()).failed > 0)
  })

  t('that is of two kinds may be where one of them may', async () => {
    note([PASSWORD, { ...PASSWORD, kind: 'password of an app' }])
    mail('client', 1, PASSWORD)
    assert.is((await judgeMails()).failed, 0)
    write('kept/log/a', PASSWORD.text)
    assert.is((await judgeMails()).failed, 1)
  })

  t('a whole run without one of a kind was no test of it; of a part nothing can be said', async () => {
    const all = SECRET_NAMES.map((kind, n): Canary => ({ kind, text: `canary-${kind}-${n}` }))
    note(all.slice(1))
    const { failed, printed } = await judge(true)
    assert.is(failed, 1, printed)
    assert.match(printed, `no secret of this kind was noted: ${SECRET_NAMES[0]}`)
    assert.is((await judge()).failed, 0)
    note(all)
    assert.is((await judge(true)).failed, 0)
    note([])
    assert.equal(await judge(), { passed: 0, failed: 0, skipped: 0, printed: '' })
    assert.is((await judge(true)).failed, SECRET_NAMES.length)
  })

  t('is read of what is answered: the part that nobody can guess', () => {
    const token = `btg_0123456789abcdef_${TOKEN.text}abc123`
    assert.equal(credentialsIn(JSON.stringify({ secret: token, password: PASSWORD.text })), [TOKEN.text, PASSWORD.text])
    assert.equal(credentialsIn('{"password":"the password of a page"}'), [])
    const line = 'b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW'
    assert.equal(
      linesOfKey(`-----BEGIN OPENSSH PRIVATE KEY-----\n${line}\nshort\n-----END OPENSSH PRIVATE KEY-----\n`),
      [line],
    )
  })

  t('each place that is allowed says why', () => {
    for (const [name, kind] of Object.entries(SECRETS))
      for (const [place, why] of Object.entries('allowed' in kind ? kind.allowed : {}))
        assert.ok(place in PLACES && why.length > 10, `${name} in ${place}`)
  })
})
