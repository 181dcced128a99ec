/** What of a folder the client sends: judged by git itself, and by what a .dockerignore means. */
import { execFileSync } from 'node:child_process'
import { createCipheriv, createHash } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { extract } from 'tar-stream'
import { packProject } from '../../../api/client/cli/project/pack.ts'
import { writeTree } from '../../support/client/cli.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { scratchFolder } from '../../support/stage/stage.ts'

type Sent = { name: string; mode: number; type: string; link: string | null; text: string }

const sentOf = async (path: string): Promise<Sent[]> => {
  const entries: Sent[] = []
  const reader = extract()
  reader.end(gunzipSync(readFileSync(path)))
  for await (const entry of reader) {
    const chunks: Buffer[] = []
    for await (const chunk of entry) chunks.push(chunk as Buffer)
    const { name, mode = 0, type, linkname } = entry.header
    entries.push({ name, mode, type: type ?? 'file', link: linkname ?? null, text: Buffer.concat(chunks).toString() })
  }
  return entries
}

const pack = async (folder: string, include: string[] = []) => {
  const packed = await packProject(folder, { include, onFile: () => undefined })
  const entries = await sentOf(packed.file.path)
  const digest = createHash('sha256').update(readFileSync(packed.file.path)).digest('hex')
  await packed.drop()
  assert.not.ok(existsSync(packed.file.path), 'the packed file is gone')
  return { ...packed, entries, names: entries.map(({ name }) => name), digest }
}

let folders = 0
const tree = (files: Record<string, string>): string => {
  folders += 1
  const folder = join(scratchFolder('packing'), `project-${folders}`)
  writeTree(folder, files)
  return folder
}

/** No setting of whoever runs the tests takes part. */
const git = (folder: string, ...args: string[]): string =>
  execFileSync('git', args, {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' },
  })

const byGit = (folder: string): string[] =>
  git(folder, '-c', 'core.quotePath=false', 'ls-files', '--others', '--exclude-standard')
    .split('\n')
    .filter((path) => path !== '')
    .sort()

spec('a folder that is sent', (t) => {
  const CASES: [string, Record<string, string>][] = [
    [
      'a folder and a pattern with a star',
      {
        '.gitignore': 'node_modules/\n*.log\n',
        'a.log': '',
        'b/c.log': '',
        'node_modules/x': '',
        'd/node_modules/y': '',
      },
    ],
    ['what is named from the root only', { '.gitignore': '/dist\n', 'dist/a': '', 'b/dist/a': '' }],
    ['an exception', { '.gitignore': '*.log\n!keep.log\n', 'keep.log': '', 'b.log': '', 'c/keep.log': '' }],
    [
      'an exception below a folder that is left, which git does not know',
      { '.gitignore': 'out/\n!out/keep\n', 'out/keep': '' },
    ],
    ['an exception below a star', { '.gitignore': 'out/*\n!out/keep\n', 'out/keep': '', 'out/other': '' }],
    [
      'a nested file that says more',
      {
        '.gitignore': '*.txt\n',
        'a/.gitignore': '!b.txt\nc\n',
        'a/b.txt': '',
        'a/c': '',
        'd/b.txt': '',
        'a/e/b.txt': '',
      },
    ],
    [
      'a nested file that takes a folder back, with all that nothing else leaves',
      {
        '.gitignore': 'a\n*.log\n',
        'dist/.gitignore': '!a\n',
        'dist/a/b': '',
        'dist/a/c.log': '',
        'dist/a/d/a': '',
        'dist/e/a/f': '',
        'g/a/b': '',
      },
    ],
    [
      'a folder that is taken back, whose name is full of signs',
      { '.gitignore': '\\[x\\]*\n', 'd/.gitignore': '!\\[x\\]*\n', 'd/[x]?*!/a': '', 'd/[x]?*!/b/c': '', '[x]/a': '' },
    ],
    ['stars over folders', { '.gitignore': '**/cache/**\na/**/z\n', 'x/cache/1': '', 'a/z': '', 'a/b/c/z': '', z: '' }],
    ['classes and questions', { '.gitignore': 'f[0-9]\ng?\n', f1: '', fa: '', g1: '', g: '' }],
    [
      'comments, blanks and escapes',
      { '.gitignore': '# no\n\n\\#yes\na b\nc\\ \n', '#yes': '', 'a b': '', 'c ': '', c: '' },
    ],
    ['letters of either case', { '.gitignore': 'README\n', readme: '', README: '' }],
    ['names in other scripts', { '.gitignore': 'ü*\n', über: '', 'ä/ünder': '', 日本: '' }],
  ]
  for (const [what, files] of CASES) {
    t(`is what git would take: ${what}`, async () => {
      const folder = tree({ ...files, kept: '1' })
      git(folder, 'init', '-q')
      assert.equal((await pack(folder)).names.sort(), byGit(folder))
    })
  }

  // git matches bytes: a question mark is half of an é, which nobody means
  const NAME = fc.constantFrom('a', 'b', 'c.log', 'dist', 'x y', '[')
  const PATH = fc.array(NAME, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
  const PATTERN = fc
    .tuple(
      fc.constantFrom('', '!', ''),
      fc.constantFrom('', '/', '**/'),
      fc.constantFrom('a', 'b', '*.log', 'dist', '*', 'a/b', '?', '[ab]'),
      fc.constantFrom('', '/', '/*', '/**'),
    )
    .map((parts) => parts.join(''))
  const IGNORE = fc.array(PATTERN, { maxLength: 4 }).map((lines) => `${lines.join('\n')}\n`)

  t('is what git would take, of folders and patterns at random', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(PATH, { minLength: 1, maxLength: 8 }),
        IGNORE,
        fc.option(fc.tuple(PATH, IGNORE)),
        async (paths, ignore, nested) => {
          // a name that is a folder elsewhere cannot be a file as well
          const files = paths.filter((path) => !paths.some((other) => other.startsWith(`${path}/`)))
          const below =
            nested && files.some((path) => path.startsWith(`${nested[0]}/`))
              ? { [`${nested[0]}/.gitignore`]: nested[1] }
              : {}
          const folder = tree({
            ...Object.fromEntries(files.map((path) => [path, ''])),
            '.gitignore': ignore,
            ...below,
            'kept.txt': '',
          })
          git(folder, 'init', '-q')
          const taken = byGit(folder)
          if (taken.length > 0) assert.equal((await pack(folder)).names.sort(), taken)
        },
      ),
      { numRuns: process.env.BOTTEGA_TEST_FULL ? 2_000 : 60 },
    )
  })

  t('follows the rules of the repository that it lies in, and what a clone keeps for itself', async () => {
    const top = tree({
      '.gitignore': '*.log\n',
      'packages/.gitignore': 'tmp\n',
      'packages/web/a.log': '',
      'packages/web/b': '',
      'packages/web/tmp/c': '',
      'packages/web/own': '',
    })
    git(top, 'init', '-q')
    writeFileSync(join(top, '.git', 'info', 'exclude'), 'own\n')
    assert.equal((await pack(join(top, 'packages/web'))).names, ['b'])
  })

  t('is whole when it is itself what git leaves out, because it was named', async () => {
    const top = tree({ '.gitignore': 'dist/\n', 'dist/index.html': '', 'dist/.gitignore': 'x\n', 'dist/x': '' })
    git(top, 'init', '-q')
    assert.equal((await pack(join(top, 'dist'))).names, ['.gitignore', 'index.html'])
  })

  t('is never sent with .git and .env, wherever they lie, and the client says so', async () => {
    const folder = tree({
      '.env': 'A=1',
      '.env.local': '',
      '.env.test.local': '',
      '.env.example': '',
      'a/.env': '',
      'a/.git': 'gitdir: ..',
      'a/b': '',
      '.git/config': '',
      '.gitignore': '!.env\n',
    })
    const { names, left } = await pack(folder, ['.env', 'a/.git'])
    assert.equal(names, ['.env.example', '.gitignore', 'a/b'])
    const never = left.find(({ by }) => by === 'never sent')
    assert.equal([...(never?.paths ?? [])].sort(), [
      '.env',
      '.env.local',
      '.env.test.local',
      '.git',
      'a/.env',
      'a/.git',
    ])
  })

  t('leaves out what .dockerignore names, which means its own thing by a name', async () => {
    const folder = tree({
      '.dockerignore': '# no\nnode_modules\n*.md\ntests/**\n!tests/keep\nsecret*\n',
      'node_modules/a': '',
      'b/node_modules/a': '',
      'README.md': '',
      'docs/README.md': '',
      'tests/a': '',
      'tests/keep': '',
      secrets: '',
    })
    const { names, left } = await pack(folder)
    assert.equal(names, ['.dockerignore', 'b/node_modules/a', 'docs/README.md', 'tests/keep'])
    assert.equal(
      left.map(({ by, count }) => [by, count]),
      [['.dockerignore', 4]],
    )
  })

  t('keeps compose files and Dockerfiles, which a .dockerignore names for the containers only', async () => {
    const folder = tree({
      '.dockerignore': '*\n!src\n',
      'docker-compose.yml': '',
      'compose.override.yaml': '',
      Dockerfile: '',
      'web.Dockerfile': '',
      'src/a': '',
      other: '',
    })
    assert.equal((await pack(folder)).names, [
      '.dockerignore',
      'Dockerfile',
      'compose.override.yaml',
      'docker-compose.yml',
      'src/a',
      'web.Dockerfile',
    ])
  })

  t('brings along what is asked for by name, and nothing else of a folder that is left', async () => {
    const folder = tree({ '.gitignore': 'dist/\nout/\n', 'dist/a/1': '', 'dist/b': '', 'out/x': '', c: '' })
    assert.equal((await pack(folder, ['./dist/a/'])).names, ['.gitignore', 'c', 'dist/a/1'])
  })

  t('is the same bytes for the same files, whenever they were written', async () => {
    const folder = tree({ b: '2', 'a/1': '1', 'a.txt': '3' })
    const first = await pack(folder)
    utimesSync(join(folder, 'b'), 1, 1)
    const second = await pack(folder)
    assert.equal([second.digest, second.names], [first.digest, ['a/1', 'a.txt', 'b']])
    writeFileSync(join(folder, 'b'), '4')
    assert.not.equal((await pack(folder)).digest, first.digest)
  })

  t('keeps what runs runnable, links as links, and empty files', async () => {
    const folder = tree({ run: '#!/bin/sh\n', empty: '' })
    chmodSync(join(folder, 'run'), 0o750)
    symlinkSync('run', join(folder, 'link'))
    const { entries } = await pack(folder)
    assert.equal(
      entries.map(({ name, mode, type, link, text }) => [name, mode, type, link, text]),
      [
        ['empty', 0o644, 'file', null, ''],
        ['link', 0o755, 'symlink', 'run', ''],
        ['run', 0o755, 'file', null, '#!/bin/sh\n'],
      ],
    )
  })

  t('is refused before anything is sent when there is nothing in it, or it is none', async () => {
    const refused = async (folder: string) => {
      const error = await packProject(folder, { include: [], onFile: () => undefined }).catch((caught: Error) => caught)
      assert.instance(error, Error)
      return error instanceof Error ? error.message : ''
    }
    assert.match(await refused(tree({ '.env': 'A=1' })), /nothing to send/)
    assert.match(await refused('/nonexistent'), /is no folder/)
    const heavy = tree({ 'small.txt': 'x' })
    // what does not compress: a stream of a cipher
    const noise = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(101_000_000))
    writeTree(heavy, { 'media/film': noise })
    assert.match(await refused(heavy), /larger than 100\.0 MB.*media\/ 101\.0 MB/)
  })
})
