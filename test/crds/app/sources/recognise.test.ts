import { judgeCompose, recipesOf } from '../../../../crds/app/compose/judge.ts'
import { PROJECT_KINDS, type Recognised } from '../../../../crds/app/recognise/project.ts'
import { projectFolder, recognise, wantedTexts } from '../../../../crds/app/recognise/recognise.ts'
import { shared, sourceOf } from '../../../support/builders/sources/upload.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

type Given = Record<string, string>

/** Only what is asked for is there to be read, as in an upload. */
const look = (files: Given) => {
  const paths = new Set(Object.keys(files))
  const texts = new Map(wantedTexts(paths).map((path) => [path, files[path] ?? '']))
  return recognise({ paths, texts })
}

const found = (files: Given): Recognised => {
  const recognition = look(files)
  if (!recognition.ok) throw new Error(recognition.detail)
  return recognition.project
}

const refusal = (files: Given): string => {
  const recognition = look(files)
  return recognition.ok ? `recognised as ${recognition.project.kind}` : recognition.detail
}

const textOf = ({ files }: Recognised, path: string): string => files.find((file) => file.path === path)?.text ?? ''

const packageJson = (given: object): string => JSON.stringify(given)

/** Projects as their generators make them, cut down to what is read of them. */
const STARTERS: Record<string, Given> = {
  next: {
    'package.json': packageJson({
      scripts: { dev: 'next dev', build: 'next build', start: 'next start' },
      dependencies: { next: '16.0.0', react: '19.0.0' },
    }),
    'package-lock.json': '{}',
    'next.config.ts': "export default { output: 'standalone' }\n",
    'app/page.tsx': '',
  },
  vite: {
    'package.json': packageJson({
      scripts: { dev: 'vite', build: 'tsc -b && vite build', preview: 'vite preview' },
      dependencies: { react: '19.0.0' },
      devDependencies: { vite: '7.0.0' },
    }),
    'pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
    'index.html': '',
    'src/main.tsx': '',
  },
  node: {
    'package.json': packageJson({ scripts: { start: 'node server.js' }, dependencies: { express: '5.0.0' } }),
    'package-lock.json': '{}',
    'server.js': '',
  },
  django: {
    'manage.py': '',
    'requirements.txt': 'Django>=5.2\npsycopg[binary]==3.2\ngunicorn==23.0\ndj-database-url\n',
    'shop/settings.py':
      "import dj_database_url\nDATABASES = {'default': dj_database_url.config()}\nSTATIC_ROOT = BASE_DIR / 'static'\n",
    'shop/wsgi.py': '',
  },
  fastapi: {
    'requirements.txt': 'fastapi==0.115\n',
    'app/main.py': 'from fastapi import FastAPI\n\napp = FastAPI()\n',
  },
  flask: {
    'pyproject.toml': '[project]\nname = "shop"\nrequires-python = "==3.12"\ndependencies = ["flask>=3"]\n',
    'app.py': 'from flask import Flask\napp = Flask(__name__)\n',
  },
  python: { 'requirements.txt': '', 'main.py': 'import http.server\n' },
  go: {
    'go.mod': 'module example.com/shop\n\ngo 1.24\n',
    'go.sum': '',
    'main.go': '// Shop.\npackage main\n',
    'templates/index.html': '',
  },
  static: { 'index.html': '<h1>Shop</h1>', '404.html': '', 'css/site.css': '' },
  dockerfile: { Dockerfile: 'FROM alpine:3\nEXPOSE 9000\nCMD ["true"]\n' },
}

spec('a project without a compose file', (t) => {
  t('has a starter here for every kind', () => {
    assert.equal(Object.keys(STARTERS).sort(), [...PROJECT_KINDS].sort())
  })

  for (const [kind, files] of Object.entries(STARTERS)) {
    t(`is recognised as ${kind}, and what is written for it passes the judge without a finding`, () => {
      const project = found(files)
      assert.is(project.kind, kind)
      assert.ok(project.why.length >= 2, 'it says why')
      const all = { ...files, ...Object.fromEntries(project.files.map(({ path, text }) => [path, text])) }
      for (const hostClass of ['shared', 'isolated', 'platform'] as const) {
        const source = sourceOf(all)
        const verdict = judgeCompose(source, { ...shared, hostClass })
        if (!verdict.ok) throw new Error(JSON.stringify(verdict.findings))
        assert.equal(verdict.warnings, [])
        assert.is(verdict.project.route.service, 'web')
        assert.equal(recipesOf(source, shared), ['Dockerfile'])
      }
    })

    t(`as ${kind} runs as nobody in its last stage, on a base of the library with its major version`, () => {
      const project = found(files)
      const recipe = textOf(project, 'Dockerfile') || (files.Dockerfile ?? '')
      const bases = [...recipe.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)
      for (const image of bases) assert.match(image ?? '', /^[a-z]+:\d+(\.\d+)?(-slim|-alpine)?$/)
      if (kind === 'dockerfile') return
      const last = recipe.slice(recipe.lastIndexOf('FROM '))
      assert.match(last, /^USER [1-9]\d*:[1-9]\d*$/m)
      assert.match(last, /^CMD \[/m)
    })
  }

  t('is recognised the same each time, whatever the order of its files', () => {
    for (const files of Object.values(STARTERS)) {
      assert.equal(look(Object.fromEntries(Object.entries(files).reverse())), look(files))
    }
  })

  t('that is none of them is told everything that was looked for', () => {
    const detail = refusal({ 'README.md': '' })
    for (const name of ['compose.yaml', 'Dockerfile', 'Next.js', 'Vite', 'Node', 'Python', 'Go', 'index.html'])
      assert.match(detail, name)
  })
})

spec('the packages of a project', (t) => {
  const server = { scripts: { start: 'node server.js' }, dependencies: { express: '5' } }
  const recipeWith = (files: Given, given: object = server): string =>
    textOf(found({ 'package.json': packageJson(given), 'server.js': '', ...files }), 'Dockerfile')

  t('are installed by what locked them, and exactly as locked', () => {
    assert.match(recipeWith({ 'package-lock.json': '{}' }), 'npm ci')
    assert.match(
      recipeWith({ 'pnpm-lock.yaml': "lockfileVersion: '9.0'\n" }),
      'pnpm@10 && pnpm install --frozen-lockfile',
    )
    assert.match(recipeWith({ 'pnpm-lock.yaml': "lockfileVersion: '6.0'\n" }), 'pnpm@8 ')
    assert.match(recipeWith({ 'yarn.lock': '' }), 'yarn@1 && yarn install --frozen-lockfile')
    assert.match(recipeWith({ 'yarn.lock': '', '.yarnrc.yml': '' }), 'yarn install --immutable')
    assert.match(recipeWith({ 'bun.lock': '' }), 'bun install --frozen-lockfile')
    const bare = found({ 'package.json': packageJson(server), 'server.js': '' })
    assert.match(textOf(bare, 'Dockerfile'), 'npm install')
    assert.match(bare.why.join(' '), 'Nothing locks its dependencies')
  })

  t('that run a script of theirs while they are installed find all files', () => {
    assert.match(
      recipeWith(
        { 'package-lock.json': '{}' },
        { ...server, scripts: { ...server.scripts, postinstall: 'prisma generate' } },
      ),
      'COPY . .\nRUN --mount',
    )
    assert.match(recipeWith({ 'package-lock.json': '{}' }), 'COPY package.json package-lock.json ./\nRUN --mount')
  })

  t('run on the Node that is asked for', () => {
    const image = (files: Given, engines?: object) =>
      /^FROM (\S+)/.exec(recipeWith(files, { ...server, ...(engines && { engines }) }))?.[1]
    assert.is(image({}), 'node:24-slim')
    assert.is(image({}, { node: '20.x' }), 'node:20-slim')
    assert.is(image({}, { node: '>=18' }), 'node:24-slim')
    assert.is(image({}, { node: '>=26' }), 'node:26-slim')
    assert.is(image({ '.nvmrc': 'v22.3.0\n' }), 'node:22-slim')
    assert.is(image({ '.nvmrc': 'lts/*\n' }), 'node:24-slim')
  })

  t('that compile get a compiler for the build, and no compiler where they run', () => {
    const recipe = recipeWith({}, { ...server, dependencies: { bcrypt: '6' } })
    assert.equal(
      [...recipe.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image),
      ['node:24', 'node:24-slim'],
    )
  })

  t('of a server with Vite are no files alone', () => {
    const files = {
      'package.json': packageJson({
        scripts: { build: 'vite build', start: 'node server.js' },
        devDependencies: { vite: '7' },
      }),
      'server.js': '',
    }
    assert.is(found(files).kind, 'node')
  })

  t('of Vite may be written elsewhere', () => {
    const files = { ...STARTERS.vite, 'vite.config.ts': "export default { build: { outDir: './public/app' } }\n" }
    assert.match(textOf(found(files), 'Dockerfile'), 'COPY --from=build /app/public/app/ /srv/')
    const out = { ...STARTERS.vite, 'vite.config.ts': "export default { build: { outDir: '../out' } }\n" }
    assert.match(textOf(found(out), 'Dockerfile'), 'COPY --from=build /app/dist/ /srv/')
  })

  t('that are no JSON are no project', () => {
    assert.match(refusal({ 'package.json': '{' }), 'package.json that is JSON')
    assert.match(refusal({ 'package.json': '[]' }), 'package.json that is JSON')
    assert.match(refusal({ 'package.json': '{"scripts": {"start": 7}}' }), 'a script start')
  })
})

spec('a server in Python', (t) => {
  t('that asks for PostgreSQL by DATABASE_URL gets one of its own, and migrates before it serves', () => {
    const project = found(STARTERS.django ?? {})
    const source = sourceOf({
      ...STARTERS.django,
      ...Object.fromEntries(project.files.map(({ path, text }) => [path, text])),
    })
    const verdict = judgeCompose(source, shared)
    if (!verdict.ok) throw new Error(JSON.stringify(verdict.findings))
    const { services, volumes } = verdict.project
    assert.equal(
      services.map(({ name, stateful, oneShot }) => `${name} ${stateful} ${oneShot}`),
      ['db true false', 'migrate false true', 'web false false'],
    )
    assert.equal(volumes, ['data'])
    assert.is(services.find(({ name }) => name === 'web')?.environment.DATABASE_URL, 'postgres://app@db:5432/app')
    const named = judgeCompose(source, { ...shared, env: { DATABASE_URL: 'postgres://elsewhere.example/x' } })
    if (!named.ok) throw new Error(JSON.stringify(named.findings))
    assert.is(
      named.project.services.find(({ name }) => name === 'web')?.environment.DATABASE_URL,
      'postgres://elsewhere.example/x',
    )
  })

  t('that names no database gets none', () => {
    const project = found({
      'manage.py': '',
      'requirements.txt': 'django\n',
      'shop/wsgi.py': '',
      'shop/settings.py': '',
    })
    assert.not.match(textOf(project, 'docker-compose.yml'), 'postgres')
  })

  t('is served by what serves its sort, which is added where it is not named', () => {
    assert.match(
      textOf(found(STARTERS.fastapi ?? {}), 'Dockerfile'),
      'exec uvicorn app.main:app --host 0.0.0.0 --port $PORT',
    )
    assert.match(textOf(found(STARTERS.fastapi ?? {}), 'Dockerfile'), 'pip install uvicorn')
    assert.match(textOf(found(STARTERS.flask ?? {}), 'Dockerfile'), "exec gunicorn --bind 0.0.0.0:$PORT 'app:app'")
    assert.not.match(textOf(found(STARTERS.django ?? {}), 'Dockerfile'), 'pip install gunicorn')
    const made = found({ 'requirements.txt': 'flask\n', 'shop/__init__.py': 'def create_app(test=None):\n' })
    assert.match(textOf(made, 'Dockerfile'), "'shop:create_app()'")
  })

  t('may say by a Procfile what serves visitors', () => {
    const project = found({
      'requirements.txt': 'bottle\n',
      Procfile: 'worker: python work.py\nweb: gunicorn "shop:make()" --bind :$PORT\n',
    })
    assert.match(textOf(project, 'Dockerfile'), 'CMD ["sh","-c","gunicorn \\"shop:make()\\" --bind :$PORT"]')
  })

  t('runs on the version that it asks for, and installs what is locked', () => {
    assert.match(textOf(found(STARTERS.flask ?? {}), 'Dockerfile'), 'FROM python:3.12-slim')
    assert.match(
      textOf(found({ ...STARTERS.python, '.python-version': '3.11.4\n' }), 'Dockerfile'),
      'FROM python:3.11-slim',
    )
    assert.match(textOf(found({ ...STARTERS.flask, 'uv.lock': '' }), 'Dockerfile'), 'uv sync --frozen')
    assert.match(textOf(found({ ...STARTERS.flask, 'poetry.lock': '' }), 'Dockerfile'), 'poetry install')
  })
})

spec('other projects', (t) => {
  t('in Go may have one program of several, by its name', () => {
    const several = {
      'go.mod': 'module x\n',
      'cmd/worker/main.go': 'package main\n',
      'cmd/server/main.go': 'package main\n',
    }
    assert.match(textOf(found(several), 'Dockerfile'), 'go build -trimpath -ldflags=-s -o /out/app ./cmd/server')
    assert.match(
      refusal({ 'go.mod': 'module x\n', 'cmd/a/main.go': '', 'cmd/b/main.go': '' }),
      'cmd has 2 and none is named server',
    )
    assert.match(refusal({ 'go.mod': 'module x\n', 'lib.go': 'package lib\n' }), 'beside go.mod a package main')
  })

  t('with a Dockerfile are reached at the port of its last stage, or told one', () => {
    const port = (text: string) =>
      /expose:\n {6}- "(\d+)"/.exec(textOf(found({ Dockerfile: text }), 'docker-compose.yml'))?.[1]
    assert.is(port('FROM a:1 AS x\nEXPOSE 1\nFROM b:1\nEXPOSE 3000/tcp\n'), '3000')
    assert.is(port('FROM a:1\nexpose 9000/udp\nCMD x\n'), '8080')
    assert.is(port('FROM a:1\nEXPOSE 99999\n'), '8080')
    assert.match(textOf(found({ dockerfile: 'FROM a:1\n' }), 'docker-compose.yml'), 'dockerfile: dockerfile')
  })

  t('of Next.js are served whole, small, or as files, as they ask for', () => {
    const whole = { ...STARTERS.next, 'next.config.ts': 'export default {}\n' }
    assert.match(textOf(found(whole), 'Dockerfile'), 'CMD ["node_modules/.bin/next","start"]')
    assert.match(textOf(found(STARTERS.next ?? {}), 'Dockerfile'), 'CMD ["node","server.js"]')
    const files = { ...STARTERS.next, 'next.config.ts': "export default { output: 'export' }\n" }
    assert.match(textOf(found(files), 'Dockerfile'), 'COPY --from=build /app/out/ /srv/')
  })

  t('keep what they say themselves of what a build is given', () => {
    const own = found({ ...STARTERS.static, '.dockerignore': 'drafts\n' })
    assert.equal(
      own.files.map(({ path }) => path),
      ['docker-compose.yml', 'Dockerfile'],
    )
  })

  t('may lie in one folder', () => {
    assert.is(projectFolder(new Set(['shop/index.html', 'shop/css/a.css'])), 'shop/')
    assert.is(projectFolder(new Set(['shop/index.html', 'other'])), '')
    assert.is(projectFolder(new Set(['shop/web/package.json'])), '')
  })
})

spec('hostile names in a project', (t) => {
  const cases: Given[] = [
    { 'package.json': packageJson({ scripts: { start: 'node a.js"]\nRUN curl evil' }, main: 'x' }) },
    { 'package.json': packageJson({ main: 'a.js"]\nUSER 0' }), 'a.js"]\nUSER 0': '' },
    { 'package.json': packageJson({ scripts: { build: 'vite build\nUSER 0' }, devDependencies: { vite: '1' } }) },
    {
      'package.json': packageJson({
        scripts: { start: 'node a.js' },
        packageManager: 'pnpm@1\nUSER 0',
        engines: { node: '20\nUSER 0' },
      }),
      'pnpm-lock.yaml': '',
    },
    { 'requirements.txt': 'x', Procfile: 'web: a\\\nUSER 0\n' },
    { 'requirements.txt': 'django', 'manage.py': '', 'a b/wsgi.py': '' },
    { 'go.mod': '', 'cmd/$(id)/main.go': 'package main\n' },
  ]
  t('never become a line of a Dockerfile', () => {
    for (const files of cases) {
      const recognition = look(files)
      if (!recognition.ok) continue
      const recipe = textOf(recognition.project, 'Dockerfile')
      assert.not.match(recipe, /^USER 0/m)
      assert.not.match(recipe, /^RUN curl/m)
      assert.not.match(recipe, '$(id)')
    }
  })
})
