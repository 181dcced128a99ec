/** The structure of the repository, checked: each rule also finds a fault that is planted for it. */
import { execFileSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { join, posix } from 'node:path'
import { descriptions } from '../api/wiring/routes.ts'
import { CONTROLS } from '../controllers/kinds/list.ts'
import { KINDS } from '../crds/kinds.ts'
import { assert, spec } from './support/runner/spec.ts'
import {
  bareUvu,
  castViews,
  defaults,
  environmentReaders,
  impurities,
  leftovers,
  tooLong,
  typesTwice,
} from './support/structure/code.ts'
import {
  citedElsewhere,
  deadCitations,
  deadDecisions,
  deadPaths,
  decisionNames,
  missingDoors,
  readTexts,
  sharedAnchors,
  sharedNumbers,
} from './support/structure/documents.ts'
import { comparedOwners, UNASKED, unaskedReads } from './support/structure/door.ts'
import { longFunctions } from './support/structure/functions.ts'
import { otherDoors, otherWaysOut, WAYS_OUT } from './support/structure/packages.ts'
import {
  DOCUMENT_HOMES,
  FORM_HOMES,
  otherDocuments,
  otherForms,
  otherPolicies,
  POLICY_HOMES,
} from './support/structure/pages.ts'
import { CAST_PARTS, castParts, wholeParts } from './support/structure/parts.ts'
import { circles, crowded, kindNames, kindsThatMeet, wrongRooms } from './support/structure/rooms.ts'
import { sharedSlugs } from './support/structure/slugs.ts'
import { functionsTwice, readSql, strayFunctions } from './support/structure/sql.ts'
import { readTree, root, type Tree } from './support/structure/tree.ts'

/** One name, the same in each folder. */
const namesThatDiffer = (has: (path: string) => boolean, folders: readonly string[]): string[] => {
  const missing = kindNames.flatMap((name) => {
    const places = [`crds/${name}/schema.ts`, `crds/${name}/kind.ts`, `crds/${name}/plan.ts`, `crds/${name}/view.ts`]
    const more = [`crds/${name}.yaml`, `controllers/kinds/${name}/controller.ts`, `test/crds/${name}/${name}.test.ts`]
    const example = has('charts/bottega/examples/') ? [`charts/bottega/examples/${name}.yaml`] : []
    return [...places, ...more, ...example].filter((path) => !has(path)).map((path) => `${path} is missing`)
  })
  const strangers = folders
    .filter((name) => !kindNames.includes(name))
    .map((name) => `crds/${name} is no kind of kinds.ts`)
  return [...missing, ...strangers]
}

/** A folder, which ends in a slash, is there when it holds a file. */
const isThere = (path: string): boolean =>
  path.endsWith('/') ? globSync(`${path}*`, { cwd: root }).length > 0 : existsSync(join(root, path))

/** Rooms of all kinds; and the webhooks, which are no resource. */
const SHARED_FOLDERS = ['catalogue', 'problems', 'webhook', 'kernel', 'names', 'values', 'text', 'files']

const crdFolders = (): string[] => [
  ...globSync('crds/*/', { cwd: root })
    .map((path) => posix.basename(path))
    .filter((name) => !SHARED_FOLDERS.includes(name)),
  ...globSync('crds/*.yaml', { cwd: root }).map((path) => posix.basename(path, '.yaml')),
]

/** Put together, so that this file imports nothing of it. */
const FROM_WIRING = `import type { Deps } from '../${'wiring'}/deps.ts'\n`

spec('the structure', (t) => {
  const tree = readTree()
  const planted = (path: string, text: string): Tree => new Map([[path, `${text}\n`]])
  const rules: [string, (tree: Tree) => string[], [string, string][]][] = [
    [
      'looks from the upper floors to the lower ones',
      wrongRooms,
      [
        ['crds/x.ts', "import { a } from '../controllers/store/pg/pg.ts'"],
        ['controllers/base/x.ts', "import { a } from '../store/pg/pg.ts'"],
        ['controllers/net/x.ts', "import { a } from '../store/mirror.ts'"],
        ['controllers/store/x.ts', "import { a } from '../kube/kube.ts'"],
        ['controllers/runtime/x.ts', "import type { A } from '../io/pdf/pdf.ts'"],
        ['controllers/ops/x.ts', "import type { A } from '../io/mail.ts'"],
        ['controllers/io/x.ts', "import { a } from '../kinds/invoice/controller.ts'"],
        ['controllers/kinds/x.ts', "import { a } from '../workers/scheduler.ts'"],
        ['controllers/workers/x.ts', "import { a } from '../operator.ts'"],
        ['controllers/attic/x.ts', "import { a } from '../base/log.ts'"],
        ['api/x.ts', "import {\n  a,\n} from '../controllers/io/mail.ts'"],
        ['api/x.ts', "import { a } from '../controllers/runtime/pass.ts'"],
        ['api/x.ts', "const a = await import('../controllers/kinds/list.ts')"],
        ['api/x.ts', "export { a } from '../hack/lib/x.ts'"],
        ['api/x.ts', "import { makeEc2 } from './client/devbox/cloud/ec2/driver.ts'"],
        ['api/client/cli/x.ts', "import type { A } from '../devbox/cloud/driver.ts'"],
        ['controllers/kinds/x.ts', "import { a } from '../../api/client/devbox/run/converge.ts'"],
        ['api/client/devbox/x.ts', "import { a } from '../../http/server.ts'"],
        ['api/client/devbox/x.ts', "import { a } from '../../../controllers/base/env.ts'"],
      ],
    ],
    [
      'has kinds that never import each other',
      kindsThatMeet,
      [
        ['crds/invoice/x.ts', "import { a } from '../account/plan.ts'"],
        ['controllers/kinds/invoice/x.ts', "import type { A } from '../account/controller.ts'"],
        ['controllers/store/invoice/x.ts', "import type { A } from '../app/app.ts'"],
        ['api/invoice/x.ts', "import { a } from '../account/account.ts'"],
      ],
    ],
    [
      'has one door per package',
      otherDoors,
      [
        ['controllers/kinds/invoice/controller.ts', "import pg from 'pg'"],
        ['crds/x.ts', "import { Ajv2020 } from 'ajv/dist/2020.js'"],
        ['api/x.ts', "import leftPad from 'left-pad'"],
      ],
    ],
    [
      'lets requests out through the guard alone',
      otherWaysOut,
      [
        ['controllers/io/x.ts', "import { request } from 'node:https'"],
        ['controllers/kinds/site/controller.ts', "import { createServer, connect } from 'node:net'"],
        ['api/x.ts', "import http from 'node:http'"],
        ['api/x.ts', "import * as tls from 'node:tls'"],
        ['api/x.ts', 'const answer = await fetch(url)'],
        ['controllers/runtime/x.ts', "import { request } from 'undici'"],
        ['controllers/runtime/x.ts', 'const ask = globalThis.fetch'],
      ],
    ],
    [
      'looks at what is kept of resources through the door that asks whose it is',
      unaskedReads,
      [
        ['api/x.ts', "import type { MirrorReader } from '../controllers/store/mirror.ts'"],
        ['api/invoice/x.ts', "const row = await deps.mirror.get('Invoice', id, { because: 'link' })"],
        ['api/invoice/page/show.ts', "const row = await deps.mirror.get('Invoice', id, { because: 'role' })"],
        ['api/site/x.ts', 'const found = await deps.kube.get(SITE, ref)'],
        ['api/app/x.ts', 'if (isAlreadyExists(error)) return'],
        ['api/x.ts', "const SQL = 'select view from mirror where name = $1'"],
      ],
    ],
    [
      'compares accounts at one place',
      comparedOwners,
      [
        ['api/x.ts', 'if (row.account !== request.caller.account) throw missing()'],
        ['api/x.ts', 'const isMine = stored.owner === caller.account'],
        ['api/x.ts', "return rows.filter(({ account }) => account === 'demo')"],
        ['controllers/kinds/x.ts', 'if (found.spec.account === spec.account) return found'],
        ['crds/site/x.ts', 'if (ask.by === object.spec.account) return null'],
      ],
    ],
    [
      'is pure in crds',
      impurities,
      [
        ['crds/x.ts', 'const now = Date.now()'],
        ['crds/x.ts', "import { readFileSync } from 'node:fs'"],
        ['crds/x.ts', "import { randomBytes } from 'node:crypto'"],
      ],
    ],
    ['reads the environment in one place', environmentReaders, [['api/x.ts', "const a = process.env['A']"]]],
    ['uses uvu through its guard only', bareUvu, [['test/x.test.ts', "import { test } from 'uvu'"]]],
    [
      'has files that fit in a view',
      tooLong,
      [
        ['api/x.ts', '\n'.repeat(300)],
        ['test/x.test.ts', '\n'.repeat(500)],
      ],
    ],
    [
      'has functions that fit in a view',
      longFunctions,
      [
        ['crds/x.ts', `const a = () => {${'\n'.repeat(70)}}`],
        ['hack/x.ts', `function a() {${'\n'.repeat(70)}}`],
        ['api/x.ts', `class A {\n  async a() {${'\n'.repeat(70)}}\n}`],
        ['test/support/x.ts', `const a = {\n  b: async (c: string) => {${'\n'.repeat(70)}},\n}`],
      ],
    ],
    [
      'makes content policies in one place',
      otherPolicies,
      [
        ['api/x.ts', "const headers = { 'content-security-policy': \"default-src 'none'\" }"],
        ['crds/site/x.ts', "const policy = 'frame-ancestors *'"],
        ['controllers/io/x.ts', "const policy = [\"script-src 'self'\"].join('; ')"],
      ],
    ],
    [
      'begins documents in one place each: pages, sites, mails',
      otherDocuments,
      [
        ['api/x.ts', 'const page = html`<!doctype html>'],
        ['crds/invoice/mail/x.ts', 'const mail = html`<!DOCTYPE html>'],
        ['crds/site/x.ts', "const gone = '<!doctype html>'"],
      ],
    ],
    [
      'styles forms in one place',
      otherForms,
      [
        ['api/x.ts', 'const CSS = `\nlabel { font-weight: 600; }`'],
        [
          'api/invoice/page/style.ts',
          'const CSS = `\n@media print {\n  button:hover, .button:hover { color: red; }\n}`',
        ],
        ['api/x.ts', 'const CSS = `\ninput[type="email"], select { width: 100%; }`'],
      ],
    ],
    ['leaves nothing for later', leftovers, [['api/x.ts', `// ${'TO'}${'DO'}: later`]]],
    [
      'takes views as their kind declares them',
      castViews,
      [
        ['api/x.ts', `const { number } = row.${'view'} as InvoiceView`],
        ['api/x.ts', `const { state } = (row?.${'view'} ?? {}) as Partial<HostView>`],
        ['test/x.test.ts', `const paid = (row?.${'view'} as { paid_cents?: number } | undefined)?.paid_cents`],
        ['controllers/kinds/x.ts', `const row = found as ${'Mirror'}Row<SiteView>`],
      ],
    ],
    [
      'casts no object to all parts of the api',
      (all) => castParts(all).filter((fault) => !CAST_PARTS.some((path) => fault.startsWith(`${path} `))),
      [
        ['test/x.test.ts', `const deps = { publicUrl } as ${'Deps'}`],
        ['hack/benches/x.ts', `const deps = { publicUrl } as unknown as ${'Deps'}`],
        ['api/x.ts', `const deps = ({ kube } as unknown) as ${'Deps'}`],
      ],
    ],
    [
      'has handlers that take what they need',
      wholeParts,
      [
        ['api/x/y.ts', `${FROM_WIRING}const read = async (deps: Deps) => deps.kube`],
        ['api/http/x.ts', `${FROM_WIRING}const read = ({ kube }: Deps) => kube`],
        ['api/x/y.ts', `${FROM_WIRING}export const routes: Route<Deps>[] = []`],
        ['api/x/y.ts', `${FROM_WIRING}type All = Pick<Deps, 'kube'> & Partial<Deps>`],
        ['test/x.test.ts', `${FROM_WIRING}const play = async (api: Deps) => {}`],
      ],
    ],
    ['exports by name', defaults, [['api/x.ts', 'export default 1']]],
    [
      'exports no type name twice',
      typesTwice,
      [
        ['crds/x.ts', 'export type A = 1\nexport class A {}'],
        ['api/x.ts', 'export interface A {}\nexport type A = 1'],
      ],
    ],
  ]
  for (const [name, rule, samples] of rules) {
    t(name, () => assert.equal(rule(tree), []))
    for (const [path, text] of samples) {
      t(`${name}: ${path} with ${JSON.stringify(text.trim().slice(0, 60))} would be seen`, () => {
        assert.is(rule(planted(path, text)).length, 1)
      })
    }
  }

  t('gives each app of a test on hosts a slug of its own', () => {
    assert.equal(sharedSlugs(tree), [])
    const [one, two] = ["stage.app('queue')", "const SLUG = 'queue'\nstage.app('other')"]
    const twice = new Map([...planted('test/hosts/x.test.ts', one), ...planted('test/hosts/y.test.ts', two)])
    assert.equal(sharedSlugs(twice), ['queue is used by test/hosts/x.test.ts and test/hosts/y.test.ts'])
  })
  t('measures a function without the comment before it, and no test', () => {
    const text = `class A {\n  /** One.${'\n'.repeat(70)} */\n  a() {${'\n'.repeat(69)}}\n}\n`
    assert.equal(longFunctions(planted('api/x.ts', text)), [])
    assert.equal(longFunctions(planted('test/x.test.ts', `const a = () => {${'\n'.repeat(70)}}`)), [])
  })
  t('lets handlers pick, and nobody cast who no longer does', () => {
    const picked = "type A = Pick<\n  Deps,\n  'kube' | 'now'\n>\ntype B = NonNullable<Deps['llm']>"
    assert.equal(wholeParts(planted('api/x/y.ts', `${FROM_WIRING}${picked}`)), [])
    for (const path of CAST_PARTS) assert.is(castParts(planted(path, tree.get(path) ?? '')).length, 1, path)
  })
  t('lets nobody look unasked who no longer does', () => {
    for (const path of Object.keys(UNASKED)) {
      assert.ok(unaskedReads(new Map([['api/moved.ts', tree.get(path) ?? '']])).length > 0, path)
    }
  })
  t('has no circle of imports, types included', () => assert.equal(circles(tree), []))
  t('would see a circle, also one of types, and only once', () => {
    const ring = ['a', 'b', 'c'].map((name, i): [string, string] => [
      `crds/${name}.ts`,
      `import type { X } from './${['b', 'c', 'a'][i]}.ts'\nimport { y } from './d.ts'\n`,
    ])
    assert.equal(circles(new Map([...ring, ['crds/d.ts', '']])), ['crds/a.ts ↔ crds/b.ts ↔ crds/c.ts'])
  })
  t('has no crowded folder', () => {
    const kept = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
    assert.equal(crowded(kept.toString().split('\n')), [])
  })
  t('would see a crowded folder, and counts a definition with its kind', () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => `api/x/f${i}.ts`)
    assert.equal(crowded([...many(16), 'api/x/README.md']), [])
    assert.equal(crowded(many(17)), ['api/x has 17 entries, at most 16'])
    const kinds = kindNames.flatMap((name) => [`crds/${name}.yaml`, `crds/${name}/plan.ts`])
    const own = Array.from({ length: 10 }, (_, i) => `crds/r${i}/x.ts`)
    assert.equal(crowded([...kinds, ...own]), [])
    const most = 10 + kindNames.length
    assert.equal(crowded([...kinds, ...own, 'crds/r10/x.ts']), [`crds has ${most + 1} entries, at most ${most}`])
  })

  t('has each function of the database once, in the file of its name', () => {
    const sql = readSql()
    assert.ok([...sql.keys()].some((path) => path.endsWith('/functions/claim_numbers.sql')))
    assert.equal([strayFunctions(sql), functionsTwice(sql)], [[], []])
  })
  t('would see a function in another file, and one text under two names', () => {
    const rest = '() returns int\nlanguage sql\nreturn 1;\n'
    const made = (path: string, name: string): [string, string] => [
      `controllers/store/sql/${path}.sql`,
      `-- ${name}\ncreate or replace function ${name}${rest}`,
    ]
    assert.equal(strayFunctions(new Map([made('schema/001_a', 'a')])), [
      'controllers/store/sql/schema/001_a.sql makes a',
    ])
    const twins = new Map([made('functions/a', 'a'), made('functions/b', 'b')])
    assert.equal([strayFunctions(twins), functionsTwice(twins).length], [[], 1])
  })

  t('has no home of policies, documents or forms in which nothing of it stands any more', () => {
    const moved = (path: string): Tree => new Map([['api/moved.ts', tree.get(path) ?? '']])
    const homes: [readonly string[], (tree: Tree) => string[]][] = [
      [POLICY_HOMES, otherPolicies],
      [DOCUMENT_HOMES, otherDocuments],
      [FORM_HOMES, otherForms],
    ]
    for (const [paths, rule] of homes) {
      for (const path of paths) assert.is(rule(moved(path)).length, 1, path)
    }
  })
  t('has no way out that nobody uses any more', () => {
    for (const path of Object.keys(WAYS_OUT)) {
      assert.is(otherWaysOut(new Map([[`api/${path}`, tree.get(path) ?? '']])).length, 1, path)
    }
  })
  t('calls each kind the same in every folder', () => {
    assert.equal(namesThatDiffer(isThere, crdFolders()), [])
  })
  t('drives each kind by one line of the controllers, in the order of the kinds', () => {
    assert.equal(
      CONTROLS.map(({ kind }) => kind.kind),
      KINDS.map(({ kind }) => kind),
    )
  })
  t('describes each kind that has routes in one of the served documents', () => {
    const described = JSON.stringify([...descriptions().values()].map((document) => Reflect.get(document, 'paths')))
    for (const name of kindNames) {
      const routes = [...(tree.get(`api/${name}/routes.ts`) ?? '').matchAll(/^\s+path: '(\/api\/[^']+)'/gm)]
      for (const [, path = ''] of routes) {
        assert.ok(described.includes(`"${path.replace(/:(\w+)/g, '{$1}')}"`), `${path} of api/${name}/routes.ts`)
      }
    }
  })
  t('would see a missing file and a stranger among the kinds', () => {
    const found = namesThatDiffer(
      (path) => path !== 'controllers/kinds/invoice/controller.ts' && !path.startsWith('charts'),
      ['invoice', 'gadget'],
    )
    assert.equal(found, ['controllers/kinds/invoice/controller.ts is missing', 'crds/gadget is no kind of kinds.ts'])
  })
  t('was read at all', () => assert.ok(tree.size > 60))
})

/** A comment, put together so that this file holds none of the faults that are planted. */
const note = (text: string): string => ['/', '** ', text, ' *', '/'].join('')

spec('what is cited', (t) => {
  const texts = readTexts()
  const page = '# Rules\n\n## Names & numbers\n\nOne.\n\n```sh\n# no heading\n```\n'
  const pages: Tree = new Map([['hack/docs/rules/x.md', page]])
  const rules: [string, (texts: Tree) => string[], [string, string][]][] = [
    [
      'is a rule under its heading',
      (tree) => deadCitations(tree, tree === texts ? texts : pages),
      [
        ['crds/x.ts', note('A name (rules/y.md#names--numbers).')],
        ['crds/x.ts', note('A name (rules/x.md#nouns).')],
        ['crds/x.ts', note('A name (rules/x.md#no-heading).')],
        ['crds/x.ts', `// as in rules/x.md#names--numbers, #nouns`],
        ['crds/x.ts', note('A name (rules/x.md#names--numbers,\n * #nouns).')],
        ['controllers/store/sql/x.sql', '-- rules/x.md#nouns'],
        ['hack/decisions/001-x.md', 'See `rules/x.md#nouns`.'],
      ],
    ],
    [
      'is here',
      citedElsewhere,
      [
        ...[
          'DESIGN section 5',
          'CONTRACT 10',
          'SITES.md',
          'STYLE, 3',
          'spec/1 Limits',
          'research/x.md 2',
          'issue 4',
        ].map((what): [string, string] => ['api/x.ts', note(`As it is (${what}).`)]),
        ['controllers/store/sql/x.sql', '-- As it is (spec/1).'],
        ['hack/decisions/001-x.md', 'CONTRACT allows it.'],
      ],
    ],
    [
      'is a decision that was written',
      (tree) => deadDecisions(tree, decisionNames(texts)),
      [
        ['api/x.ts', note('Why: hack/decisions/999.')],
        ['api/x.ts', note('Why: hack/decisions/001-another-name.md.')],
      ],
    ],
    ['is opened by one heading', sharedAnchors, [['hack/docs/rules/x.md', '## One\n\n## Two\n\n## one']]],
    [
      'is a path of the tree',
      deadPaths,
      [
        ['hack/docs/where.md', 'It stands in `crds/nowhere.ts`.'],
        ['crds/README.md', 'It stands in `crds/<kind>/nowhere.ts`.'],
        ['README.md', 'It stands in `api/nowhere/`.'],
      ],
    ],
  ]
  for (const [name, rule, samples] of rules) {
    t(name, () => assert.equal(rule(texts), []))
    for (const [path, text] of samples) {
      t(`${name}: ${path} with ${JSON.stringify(text.slice(0, 60))} would be seen`, () => {
        assert.is(rule(new Map([[path, `${text}\n`]])).length, 1)
      })
    }
  }
  t('is found when it is there, by one anchor or several', () => {
    const text = note('A name (rules/x.md#rules, #names--numbers; hack/decisions/001).')
    assert.equal(deadCitations(new Map([['crds/x.ts', text]]), pages), [])
    assert.equal(deadDecisions(new Map([['crds/x.ts', text]]), ['001-x.md']), [])
  })
  t('is read in comments, not in code', () => {
    assert.equal(citedElsewhere(new Map([['api/x.ts', "const STYLE = 'spec/1'\n"]])), [])
  })
  t('has decisions with a number each', () => {
    assert.equal(sharedNumbers(decisionNames(texts)), [])
    assert.equal(sharedNumbers(['001-a.md', '002-b.md', '001-c.md']), ['001-c.md'])
  })
  t('has a page at each door of the house, short enough to be read', () => {
    assert.equal(missingDoors(texts), [])
    const doors = ['crds', 'controllers', 'api', 'charts', 'hack'].map((hall): [string, string] => [
      `${hall}/README.md`,
      '',
    ])
    assert.equal(missingDoors(new Map(doors)), ['test has no README.md'])
    assert.equal(missingDoors(new Map([...doors, ['test/README.md', '\n'.repeat(40).concat('x')]])), [
      'test/README.md has 41 lines, at most 40',
    ])
  })
  t('was read at all', () => {
    const cited = [...texts].filter(([path, text]) => path.endsWith('.ts') && text.includes('rules/')).length
    assert.ok(cited > 150, `${cited} files cite a rule`)
  })
})
