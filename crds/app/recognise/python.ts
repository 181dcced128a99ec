/** A server in Python: Django, FastAPI, Flask, or what a Procfile or main.py starts. */
import {
  type ProjectFiles,
  type ProjectKind,
  procfileWeb,
  type Recogniser,
  shell,
  type WrittenProject,
  written,
} from './project.ts'
import { PYTHON_MANIFESTS, pythonInstall, pythonVersion, requirementsOf } from './requirements.ts'

const PORT = 8_000
const POSTGRES = ['psycopg', 'psycopg2', 'psycopg2-binary', 'asyncpg']
const MODULES = ['main', 'app', 'server', 'wsgi', 'asgi', 'api', 'application', 'run', '__init__']
const MODULES_MAX = 24

/** Files in which an app may be made, the nearest to the root first. */
export const pythonModules = (paths: ReadonlySet<string>): string[] =>
  [...paths]
    .filter(
      (path) => /^(?:[\w-]{1,60}\/){0,2}\w{1,60}\.py$/.test(path) && MODULES.includes(path.replace(/^.*\/|\.py$/g, '')),
    )
    .sort((a, b) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1))
    .slice(0, MODULES_MAX)

/** Settings of Django, by the usual names. */
export const djangoSettings = (paths: ReadonlySet<string>): string[] =>
  [...paths]
    .filter((path) => /^\w{1,60}\/settings(?:\/(?:base|production|prod|__init__))?\.py$/.test(path))
    .slice(0, MODULES_MAX)

type Server = {
  kind: ProjectKind
  /** What serves it, and the command. */
  server: string | null
  command: string
  why: string
  more?: WrittenProject['more']
}

/** `app.main` for `app/main.py`, without `src`, which is where it starts. */
const moduleOf = (path: string): string =>
  path
    .replace(/^src\//, '')
    .replace(/\.py$/, '')
    .replace(/\/__init__$/, '')
    .replaceAll('/', '.')

const made = ({ paths, texts }: ProjectFiles, by: RegExp): { target: string; path: string } | null => {
  for (const path of pythonModules(paths)) {
    const name = by.exec(texts.get(path) ?? '')?.[1]
    if (name !== undefined) return { target: `${moduleOf(path)}:${name}`, path }
  }
  return null
}

const FASTAPI =
  /^(\w{1,60})(?:\s{0,10}:\s{0,10}[\w.]{1,60})?\s{0,10}=\s{0,10}(?:FastAPI|fastapi\.FastAPI|Starlette|Litestar)\(/m
const FLASK = /^(\w{1,60})(?:\s{0,10}:\s{0,10}[\w.]{1,60})?\s{0,10}=\s{0,10}(?:Flask|flask\.Flask|Quart)\(/m
const FACTORY = /^def (create_app)\(/m

const DATABASE = {
  service: ['      DATABASE_URL: $' + '{DATABASE_URL:-postgres://app@db:5432/app}'],
  after: [
    '  db:',
    '    image: postgres:17-alpine',
    '    user: postgres',
    '    environment:',
    '      POSTGRES_USER: app',
    '      POSTGRES_DB: app',
    '      # Nobody but this app reaches it.',
    '      POSTGRES_HOST_AUTH_METHOD: trust',
    '    volumes:',
    '      - data:/var/lib/postgresql/data',
    '    healthcheck:',
    '      test: ["CMD", "pg_isready", "-U", "app", "-d", "app"]',
    '      interval: 2s',
    '      timeout: 5s',
    '      retries: 45',
    'volumes:',
    '  data:',
  ],
}

const MIGRATE = [
  '  migrate:',
  '    build: .',
  '    command: ["python", "manage.py", "migrate", "--noinput"]',
  '    restart: "no"',
]

/** A database of the app's own where it asks for one by DATABASE_URL and a driver; what migrates comes before what serves. */
const djangoServices = (
  settings: string,
  needs: ReadonlySet<string>,
): { more: WrittenProject['more']; why: string } => {
  const asks =
    /\bDATABASE_URL\b|\bdj_database_url\b|\benv\.db\(/.test(settings) && POSTGRES.some((name) => needs.has(name))
  if (!asks) return { more: {}, why: 'Migrations are not run: no database is named by DATABASE_URL.' }
  const waits = (name: string, condition: string) => [`      ${name}:`, `        condition: ${condition}`]
  const depends = ['    depends_on:', ...waits('db', 'service_healthy')]
  return {
    more: {
      service: [...DATABASE.service, ...depends, ...waits('migrate', 'service_completed_successfully')],
      after: [...MIGRATE, '    environment:', ...DATABASE.service, ...depends, ...DATABASE.after],
    },
    why: 'DATABASE_URL and a driver of PostgreSQL are named: it gets one of its own with a volume, unless its env says DATABASE_URL, and migrates before it serves.',
  }
}

const django = (files: ProjectFiles, needs: ReadonlySet<string>): Server | null => {
  if (!files.paths.has('manage.py') || !needs.has('django')) return null
  const wsgi = [...files.paths].filter((path) => /^\w{1,60}\/wsgi\.py$/.test(path)).sort()[0]
  if (wsgi === undefined) return null
  const settings = djangoSettings(files.paths)
    .map((path) => files.texts.get(path) ?? '')
    .join('\n')
  const serve = `exec gunicorn --bind 0.0.0.0:$PORT ${moduleOf(wsgi)}:application`
  const collects = /^\s{0,40}STATIC_ROOT\b/m.test(settings)
  const services = djangoServices(settings, needs)
  return {
    kind: 'django',
    server: 'gunicorn',
    command: shell(collects ? `python manage.py collectstatic --noinput && ${serve}` : serve),
    why: `django is required, and manage.py and ${wsgi} are there. ${services.why}`,
    more: services.more,
  }
}

const fastapi = (files: ProjectFiles, needs: ReadonlySet<string>): Server | null => {
  if (!['fastapi', 'starlette', 'litestar'].some((name) => needs.has(name))) return null
  const app = made(files, FASTAPI)
  if (!app) return null
  return {
    kind: 'fastapi',
    server: 'uvicorn',
    command: shell(`exec uvicorn ${app.target} --host 0.0.0.0 --port $PORT`),
    why: `${app.path} makes ${app.target}, an app that uvicorn serves.`,
  }
}

const flask = (files: ProjectFiles, needs: ReadonlySet<string>): Server | null => {
  if (!needs.has('flask')) return null
  const app = made(files, FLASK)
  const factory = app ? null : made(files, FACTORY)
  const target = app?.target ?? (factory && `${factory.target}()`)
  if (!target) return null
  return {
    kind: 'flask',
    server: 'gunicorn',
    command: shell(`exec gunicorn --bind 0.0.0.0:$PORT '${target}'`),
    why: `${(app ?? factory)?.path} makes ${target}, an app that gunicorn serves.`,
  }
}

const plain = ({ paths }: ProjectFiles): Server | null => {
  const file = ['main.py', 'app.py', 'server.py'].find((name) => paths.has(name))
  if (file === undefined) return null
  return { kind: 'python', server: null, command: shell(`exec python ${file}`), why: `${file} is what it starts with.` }
}

const byProcfile = (files: ProjectFiles): Server | null => {
  const web = procfileWeb(files)
  return web === null
    ? null
    : { kind: 'python', server: null, command: shell(web), why: 'The Procfile says what serves visitors.' }
}

export const recognisePython: Recogniser = (files) => {
  const manifest = PYTHON_MANIFESTS.find((name) => files.paths.has(name))
  if (manifest === undefined) return { missed: `one of ${PYTHON_MANIFESTS.join(', ')} at the root` }
  const needs = requirementsOf(files)
  const found =
    byProcfile(files) ?? django(files, needs) ?? fastapi(files, needs) ?? flask(files, needs) ?? plain(files)
  if (!found) {
    return {
      missed: `beside ${manifest} a Procfile with web, Django with manage.py, an app of FastAPI or Flask in main.py or app.py, or main.py`,
    }
  }
  const { kind, command, why, more } = found
  const server = found.server !== null && !needs.has(found.server) ? found.server : null
  const install = pythonInstall(files, server)
  const image = `python:${pythonVersion(files)}-slim`
  const dockerfile = [
    `FROM ${image} AS build`,
    'WORKDIR /app',
    'ENV VIRTUAL_ENV=/venv PATH=/venv/bin:$PATH',
    'RUN python -m venv /venv',
    ...install.lines,
    `FROM ${image}`,
    'WORKDIR /app',
    `ENV PATH=/venv/bin:$PATH PYTHONPATH=/app:/app/src PYTHONUNBUFFERED=1 PORT=${PORT}`,
    'COPY --from=build /venv /venv',
    'COPY --chown=1000:1000 . .',
    'RUN chown 1000:1000 /app',
    'USER 1000:1000',
    `EXPOSE ${PORT}`,
    `CMD ${command}`,
  ]
  const all = [why, install.why, ...(server === null ? [] : [`${server} is added, for the project names none.`])]
  const ignored = ['.env*', '.venv', 'venv', '__pycache__']
  return written(files, { kind, why: all, port: PORT, dockerfile, ignored, ...(more && { more }) })
}
