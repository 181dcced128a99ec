/** The shape of the house (DESIGN section 3), checked on its own import lines, so no lint package is needed for it. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { descriptions } from '../api/system.ts'
import { CONTROLS } from '../controllers/kinds.ts'
import { KINDS } from '../crds/kinds.ts'
import { assert, spec } from './support/spec.ts'

const root = join(import.meta.dirname, '..')

/** Path from the root → text. */
type Tree = ReadonlyMap<string, string>

const SOURCE_LINES_MAX = 300
/** Tables of cases are read by line, not as a whole. */
const TEST_LINES_MAX = 500

const readTree = (): Tree =>
  new Map(
    globSync('{crds,controllers,api,hack,test}/**/*.ts', { cwd: root })
      .sort()
      .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
  )

const ours = (target: string) => /^(crds|controllers|api|hack|test)\//.test(target)

/** What a file imports: paths from the root for files (`/package.json` outside our folders), else names of packages. */
const importsOf = (path: string, text: string): string[] => {
  const found = text.matchAll(/^(?:import|export)\s(?:[^'"`;]*?\sfrom\s)?'([^']+)'|\bimport\('([^']+)'\)/gm)
  return [...found].map(([, fixed, dynamic]) => {
    const target = fixed ?? dynamic ?? ''
    if (!target.startsWith('.')) return target
    const file = posix.join(dirname(path), target)
    return ours(file) ? file : `/${file}`
  })
}

const kindNames = KINDS.map((kind) => kind.singular)
/** What is run, or hands the parts to what is run. */
const isWiring = (path: string) => /^(controllers\/(main|operator|setup)|api\/(main|smoke))\.ts$/.test(path)

/** The room a file is in, by who may import it. */
const roomOf = (path: string): string => {
  if (path.startsWith('controllers/runtime/')) return 'runtime'
  if (path.startsWith('controllers/io/')) return 'io'
  if (path.startsWith('controllers/')) return 'controllers'
  return path.split('/')[0] ?? ''
}

/** Who may look into which room. A kind's controller sees `io` by type only: the thing itself is handed to it. */
const MAY_SEE: Record<string, readonly string[]> = {
  crds: ['crds'],
  runtime: ['crds', 'runtime'],
  io: ['crds', 'runtime', 'io'],
  controllers: ['crds', 'runtime', 'io', 'controllers'],
  api: ['crds', 'runtime', 'api'],
}

const wrongRooms = (tree: Tree): string[] =>
  [...tree].flatMap(([path, text]) => {
    const may = MAY_SEE[roomOf(path)]
    if (!may) return []
    const targets = importsOf(path, text).filter(ours)
    return targets.filter((target) => !may.includes(roomOf(target))).map((target) => `${path} imports ${target}`)
  })

const kindOf = (path: string): string | undefined => {
  const name = /^(?:crds|controllers|api)\/([a-z]+)(?:\/|\.ts$)/.exec(path)?.[1]
  return name !== undefined && kindNames.includes(name) ? name : undefined
}

/** Kinds meet through resources. A controller may know the shape of another kind, never its controller. */
const kindsThatMeet = (tree: Tree): string[] =>
  [...tree].flatMap(([path, text]) => {
    const own = kindOf(path)
    if (own === undefined) return []
    const others = importsOf(path, text).filter((target) => {
      const other = kindOf(target)
      return other !== undefined && other !== own && dirname(target).split('/')[0] === path.split('/')[0]
    })
    return others.map((target) => `${path} imports ${target}`)
  })

/** One door per package. A package that is not listed has none yet. */
const DOORS: Record<string, RegExp> = {
  '@kubernetes/client-node': /^controllers\/runtime\/(auth|kube|watch)\.ts$/,
  undici: /^controllers\/runtime\/(auth|transport|stream|egress|reach)\.ts$/,
  pg: /^controllers\/runtime\/pg\.ts$/,
  pino: /^controllers\/runtime\/log\.ts$/,
  'prom-client': /^controllers\/runtime\/metrics\.ts$/,
  ssh2: /^controllers\/(io\/ssh|runtime\/sshkey)\.ts$/,
  pdfkit: /^controllers\/io\/pdf\.ts$/,
  fontkit: /^controllers\/io\/fonts\.ts$/,
  'bidi-js': /^controllers\/io\/scripts\.ts$/,
  linebreak: /^controllers\/io\/scripts\.ts$/,
  nodemailer: /^controllers\/io\/mail\.ts$/,
  jose: /^api\/auth\/session\.ts$/,
  'openid-client': /^api\/auth\/oidc\.ts$/,
  'rate-limiter-flexible': /^api\/counters\.ts$/,
  ajv: /^api\/validate\.ts$/,
  yaml: /^crds\/app\/compose\/parse\.ts$/,
  express: /^api\//,
  culori: /^crds\/site\/brand\.ts$/,
  'tar-stream': /^controllers\/(io\/tar|runtime\/archive)\.ts$/,
  tldts: /^crds\/site\/domain\.ts$/,
  stripe: /^controllers\/(io\/cards|runtime\/cardevents)\.ts$/,
  sharp: /^controllers\/io\/images\.ts$/,
  qr: /^crds\/qr\.ts$/,
  unpdf: /^controllers\/runtime\/pdfworker\.ts$/,
}

const packageOf = (target: string): string =>
  target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/')

const otherDoors = (tree: Tree): string[] =>
  [...tree].flatMap(([path, text]) => {
    if (!/^(crds|controllers|api)\//.test(path)) return []
    const packages = importsOf(path, text).filter((target) => !ours(target) && !/^(node:|\/)/.test(target))
    return packages
      .filter((target) => !DOORS[packageOf(target)]?.test(path))
      .map((target) => `${path} imports ${target}`)
  })

/** Who opens connections by himself, and why what he opens needs no guard. Packages that do have doors of their own. */
const WAYS_OUT: Record<string, string> = {
  'controllers/runtime/egress.ts': 'is the guard',
  'controllers/runtime/reach.ts': 'is the guard: its sockets',
  'controllers/runtime/auth.ts': 'the API server, as the kubeconfig of the installation names it',
  'controllers/runtime/llm.ts': 'the model that the installation names',
  'controllers/io/caddy.ts': 'over a channel of an SSH connection that was judged (io/host.ts)',
  'controllers/io/served.ts': 'over a channel of an SSH connection that was judged (io/host.ts)',
  'controllers/io/certificates.ts': 'over a channel of an SSH connection that was judged (io/host.ts)',
  'api/smoke.ts': 'asks the installation itself',
}
const NETWORK = /^import \{([^}]*)\} from '(?:node:(?:http|https|http2|net|tls|dgram)|undici)'/gm
/** What the network's modules hold beside ways out. */
const HARMLESS = /^(|type .*|createServer|isIP|isIPv[46])$/
const NETWORK_WHOLE =
  /^import (?:\w+|\* as \w+)(?:, \{[^}]*\})? from '(?:node:(?:http|https|http2|net|tls|dgram)|undici)'/m
/** A call, and neither a method nor the declaration of one. */
const FETCH = /(?<![.\w])fetch\((?!\w+\??: )|\bglobalThis\.fetch\b|\bnew (?:WebSocket|EventSource)\b/

const otherWaysOut = (tree: Tree): string[] =>
  [...tree].flatMap(([path, text]) => {
    if (!/^(crds|controllers|api)\//.test(path) || WAYS_OUT[path] !== undefined) return []
    const names = [...text.matchAll(NETWORK)].flatMap(([, list = '']) => list.split(',').map((name) => name.trim()))
    const opens = names.filter((name) => !HARMLESS.test(name))
    if (NETWORK_WHOLE.test(text)) opens.push('a whole module of the network')
    if (FETCH.test(withoutComments(text))) opens.push('fetch')
    return opens.length > 0 ? [`${path} uses ${opens.join(', ')}`] : []
  })

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')

/** `crds` is pure: the same arguments give the same answer, for ever. */
const IMPURE =
  /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.|\bprocess\.|\bfetch\(|\bsetTimeout\b|\bTemporal\.Now\b|\brandom(?:Bytes|UUID)\b|\bcrypto\.getRandomValues\b/
const PURE_BUILTINS = ['node:assert', 'node:assert/strict', 'node:crypto', 'node:zlib']

const impurities = (tree: Tree): string[] =>
  [...tree].flatMap(([path, text]) => {
    if (!path.startsWith('crds/')) return []
    const builtins = importsOf(path, text).filter(
      (target) => target.startsWith('node:') && !PURE_BUILTINS.includes(target),
    )
    const word = IMPURE.exec(withoutComments(text))?.[0]
    return [...builtins, ...(word === undefined ? [] : [word])].map((what) => `${path} uses ${what}`)
  })

const environmentReaders = (tree: Tree): string[] =>
  [...tree.keys()].filter((path) => {
    if (/^(hack|test)\//.test(path) || path === 'controllers/runtime/env.ts' || isWiring(path)) return false
    return /\bprocess\.env\b/.test(withoutComments(tree.get(path) ?? ''))
  })

const bareUvu = (tree: Tree): string[] =>
  [...tree].flatMap(([path, text]) =>
    path !== 'test/support/spec.ts' && importsOf(path, text).some((target) => packageOf(target) === 'uvu')
      ? [path]
      : [],
  )

const tooLong = (tree: Tree): string[] =>
  [...tree].flatMap(([path, text]) => {
    const lines = text.split('\n').length - 1
    return lines > (path.endsWith('.test.ts') ? TEST_LINES_MAX : SOURCE_LINES_MAX) ? [`${path} has ${lines} lines`] : []
  })

const MARKS = new RegExp(`\\b(${['TO', 'FIX'].map((head) => head + { TO: 'DO', FIX: 'ME' }[head]).join('|')})\\b`)
const leftovers = (tree: Tree): string[] => [...tree].flatMap(([path, text]) => (MARKS.test(text) ? [path] : []))

const defaults = (tree: Tree): string[] =>
  [...tree].flatMap(([path, text]) => (/^export default\b/m.test(text) ? [path] : []))

/** One name, the same in each folder. */
const namesThatDiffer = (has: (path: string) => boolean, folders: readonly string[]): string[] => {
  const missing = kindNames.flatMap((name) => {
    const places = [`crds/${name}/schema.ts`, `crds/${name}/kind.ts`, `crds/${name}/plan.ts`, `crds/${name}/view.ts`]
    const more = [`crds/${name}.yaml`, `controllers/${name}.ts`, `api/${name}.ts`, `test/crds/${name}.test.ts`]
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

/** The catalogue of refusals, which is of all kinds; the electronic invoice and the webhooks, which are no resources. */
const SHARED_FOLDERS = ['problems', 'einvoice', 'webhook']

const crdFolders = (): string[] => [
  ...globSync('crds/*/', { cwd: root })
    .map((path) => posix.basename(path))
    .filter((name) => !SHARED_FOLDERS.includes(name)),
  ...globSync('crds/*.yaml', { cwd: root }).map((path) => posix.basename(path, '.yaml')),
]

spec('the house', (t) => {
  const tree = readTree()
  const planted = (path: string, text: string): Tree => new Map([[path, `${text}\n`]])
  const rules: [string, (tree: Tree) => string[], [string, string][]][] = [
    [
      'imports only as DESIGN allows',
      wrongRooms,
      [
        ['crds/x.ts', "import { a } from '../controllers/runtime/pg.ts'"],
        ['controllers/runtime/x.ts', "import type { A } from '../io/pdf.ts'"],
        ['controllers/io/x.ts', "import { a } from '../invoice.ts'"],
        ['api/x.ts', "import {\n  a,\n} from '../controllers/io/mail.ts'"],
        ['api/x.ts', "const a = await import('../controllers/invoice.ts')"],
        ['api/x.ts', "export { a } from '../hack/lib/x.ts'"],
      ],
    ],
    [
      'has kinds that never import each other',
      kindsThatMeet,
      [
        ['crds/invoice/x.ts', "import { a } from '../account/plan.ts'"],
        ['controllers/invoice.ts', "import type { A } from './account.ts'"],
        ['api/invoice/x.ts', "import { a } from '../account.ts'"],
      ],
    ],
    [
      'has one door per package',
      otherDoors,
      [
        ['controllers/invoice.ts', "import pg from 'pg'"],
        ['crds/x.ts', "import { Ajv2020 } from 'ajv/dist/2020.js'"],
        ['api/x.ts', "import leftPad from 'left-pad'"],
      ],
    ],
    [
      'lets requests out through the guard alone',
      otherWaysOut,
      [
        ['controllers/io/x.ts', "import { request } from 'node:https'"],
        ['controllers/site.ts', "import { createServer, connect } from 'node:net'"],
        ['api/x.ts', "import http from 'node:http'"],
        ['api/x.ts', "import * as tls from 'node:tls'"],
        ['api/x.ts', 'const answer = await fetch(url)'],
        ['controllers/runtime/x.ts', "import { request } from 'undici'"],
        ['controllers/runtime/x.ts', 'const ask = globalThis.fetch'],
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
        ['api/x.ts', '\n'.repeat(SOURCE_LINES_MAX)],
        ['test/x.test.ts', '\n'.repeat(TEST_LINES_MAX)],
      ],
    ],
    ['leaves nothing for later', leftovers, [['api/x.ts', `// ${'TO'}${'DO'}: later`]]],
    ['exports by name', defaults, [['api/x.ts', 'export default 1']]],
  ]
  for (const [name, rule, samples] of rules) {
    t(name, () => assert.equal(rule(tree), []))
    for (const [path, text] of samples) {
      t(`${name}: ${path} with ${JSON.stringify(text.trim().slice(0, 60))} would be seen`, () => {
        assert.is(rule(planted(path, text)).length, 1)
      })
    }
  }

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
      const routes = [...(tree.get(`api/${name}.ts`) ?? '').matchAll(/^\s+path: '(\/api\/[^']+)'/gm)]
      for (const [, path = ''] of routes) {
        assert.ok(described.includes(`"${path.replace(/:(\w+)/g, '{$1}')}"`), `${path} of api/${name}.ts`)
      }
    }
  })
  t('would see a missing file and a stranger among the kinds', () => {
    const found = namesThatDiffer(
      (path) => path !== 'controllers/invoice.ts' && !path.startsWith('charts'),
      ['invoice', 'widget'],
    )
    assert.equal(found, ['controllers/invoice.ts is missing', 'crds/widget is no kind of kinds.ts'])
  })
  t('was read at all', () => assert.ok(tree.size > 60))
})
