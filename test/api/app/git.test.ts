import { randomBytes } from 'node:crypto'
import { filesIn, packIn } from '../../../api/io/git/commit.ts'
import { type CommitWanted, fetchCommit } from '../../../api/io/git/fetch.ts'
import { applyDelta, readPack } from '../../../api/io/git/pack.ts'
import { GitRefused } from '../../../api/io/git/packets.ts'
import { type Egress, makeEgress } from '../../../controllers/net/egress.ts'
import { type ServedRepository, startRepository } from '../../support/builders/sources/repository.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const LOGIN = { username: 'robot', password: 'reads-the-repository' }

spec('a repository of git', (t) => {
  let egress: Egress
  let served: ServedRepository
  let closed: ServedRepository
  const fetched = async (of: Partial<CommitWanted> = {}) => {
    const { commit, answer } = await fetchCommit(egress, { url: served.url, ref: 'main', login: null, ...of })
    return { commit, files: filesIn(packIn(Buffer.from(answer)), commit) }
  }
  const refusal = async (of: Partial<CommitWanted> = {}): Promise<string> => {
    try {
      await fetched(of)
      return 'fetched'
    } catch (error) {
      if (error instanceof GitRefused) return error.message
      throw error
    }
  }
  const shown = (files: { path: string; mode: number; content: Buffer }[]) =>
    files.map(({ path, mode, content }) => `${path} ${mode.toString(8)} ${content.toString('utf8').slice(0, 9)}`).sort()

  t.before(async () => {
    egress = makeEgress({ allowLoopback: true })
    served = await startRepository()
    closed = await startRepository(LOGIN)
  })
  t.after(async () => {
    await served.end()
    await closed.end()
    await egress.close()
  })

  t('gives the files of a branch, a tag, HEAD or a commit, and the commit', async () => {
    const first = served.commit({ 'a.txt': 'one', 'bin/run': { run: 'go' }, 'lib/a.txt': { link: '../a.txt' } })
    served.git('tag', '-a', 'v1', '-m', 'v1')
    const second = served.commit({ 'a.txt': 'two', 'deep/er/b.txt': 'b' })
    const main = await fetched()
    assert.is(main.commit, second)
    assert.equal(shown(main.files), ['a.txt 644 two', 'bin/run 755 go', 'deep/er/b.txt 644 b', 'lib/a.txt 644 two'])
    for (const ref of ['HEAD', 'refs/heads/main', second]) assert.is((await fetched({ ref })).commit, second)
    const tagged = await fetched({ ref: 'v1' })
    assert.is(tagged.commit, first)
    assert.equal(shown(tagged.files), ['a.txt 644 one', 'bin/run 755 go', 'lib/a.txt 644 one'])
  })

  t('gives what git gives, of many files that are made out of each other', async () => {
    const body = randomBytes(60_000).toString('base64')
    const files = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => [`data/${n}.txt`, `${n}\n${body}${n}${body.slice(n * 100)}`]),
    )
    served.commit(files)
    const { files: found } = await fetched()
    const texts = new Map(found.map(({ path, content }) => [path, content.toString('utf8')]))
    for (const [path, text] of Object.entries(files)) assert.ok(texts.get(path) === text, path)
    served.git('rm', '-rq', 'data')
  })

  t('that is not for everybody is fetched by its login alone', async () => {
    closed.commit({ 'a.txt': 'mine' })
    assert.is(await refusal({ url: closed.url }), 'wants a login')
    assert.is(await refusal({ url: closed.url, login: { ...LOGIN, password: 'x' } }), 'wants a login')
    assert.equal(shown((await fetched({ url: closed.url, login: LOGIN })).files), ['a.txt 644 mine'])
  })

  t('that is not there, or has no such branch, says so', async () => {
    assert.match(await refusal({ ref: 'nothing' }), 'has no branch and no tag "nothing"')
    assert.match(await refusal({ url: served.url.replace('shop', 'other') }), 'has no such repository')
    assert.match(await refusal({ ref: 'f'.repeat(40) }), /^says: |^answers/)
  })

  t('with links that lead out, or with submodules, is refused with the path', async () => {
    served.commit({ out: { link: '../../etc/passwd' } })
    assert.match(await refusal(), '../../etc/passwd is a link that leads to no file of it')
    served.commit({ out: { link: 'loop' }, loop: { link: 'out' } })
    assert.match(await refusal(), 'is a link that leads to no file of it')
    served.git('rm', '-q', 'out', 'loop')
    served.git('update-index', '--add', '--cacheinfo', `160000,${'a'.repeat(40)},theirs`)
    served.git('commit', '-q', '-m', 'submodule')
    assert.match(await refusal(), 'theirs is a submodule')
    served.git('rm', '-q', '--cached', 'theirs')
    served.commit({ 'a.txt': 'whole' })
  })

  t('whose answer was changed on the way is refused', async () => {
    for (const at of [0.3, 0.5, 0.7, 0.9, 0.99]) {
      served.spoil((answer) => {
        const spoilt = Buffer.from(answer)
        const place = Math.floor(spoilt.length * at)
        spoilt[place] = (spoilt[place] ?? 0) ^ 0x20
        return spoilt
      })
      assert.is.not(await refusal(), 'fetched', `at ${at}`)
    }
    served.spoil((answer) => answer.subarray(0, -30))
    assert.is.not(await refusal(), 'fetched')
    served.spoil(() => Buffer.alloc(2_000_000, '0004'))
    assert.match(await refusal(), 'more than')
    served.spoil(null)
    assert.is(await refusal(), 'fetched')
  })

  t('is not looked for on private addresses, nor without TLS', async () => {
    const strict = makeEgress({ allowLoopback: false })
    const told = await fetchCommit(strict, { url: served.url, ref: 'main', login: null }).catch(
      (error: Error) => error.message,
    )
    assert.match(String(told), /https|address|reach/i)
    await strict.close()
  })
})

spec('a pack', (t) => {
  t('that is not one is refused, whatever it is', async () => {
    for (const bytes of [Buffer.alloc(0), Buffer.from('PACK'), Buffer.alloc(64), randomBytes(4_096)]) {
      assert.throws(
        () => readPack(bytes, { objectsMax: 10, bytesMax: 1_000 }),
        (error: unknown) => error instanceof GitRefused,
      )
    }
  })

  t('makes nothing of a delta that reaches beyond its base', () => {
    const base = Buffer.from('0123456789')
    const good = Buffer.from([10, 4, 0x91, 2, 3, 1, 0x41])
    assert.is(applyDelta(base, good, 100).toString(), '234A')
    for (const bad of [
      [10, 4, 0x91, 8, 3, 1, 0x41],
      [9, 4, 0x91, 2, 3, 1, 0x41],
      [10, 4, 0x91, 2, 3],
      [10, 4, 0],
      [10, 3, 5, 0x41],
    ]) {
      assert.throws(() => applyDelta(base, Buffer.from(bad), 100), /broken/)
    }
    assert.throws(() => applyDelta(base, Buffer.from([10, 0x80, 0x80, 0x80, 0x80, 8]), 100), /more bytes/)
  })
})
