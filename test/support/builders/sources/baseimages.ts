import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ensurePackages } from '../../../../hack/lib/apt.ts'
import { postgresBinaries, postgresUser } from '../../../../hack/platform/pgfiles.ts'

/**
 * Images that projects begin with, for a Docker that reaches no registry: made of what this machine has, under the names of the
 * library, so that a project names them as it would anywhere.
 */
export type BaseImage = {
  name: string
  /** Programs, each with the files that it is linked to. */
  programs: Record<string, string>
  /** Whole folders, from here to there. */
  folders?: Record<string, string>
  files?: Record<string, TextFile>
  links?: Record<string, string>
  /** As `docker import --change` takes them. */
  changes?: readonly string[]
}

type TextFile = { text: string; mode?: number }

const BUSYBOX = '/bin/busybox'
const PASSWD =
  'root:x:0:0:root:/root:/bin/sh\npostgres:x:999:999::/var/lib/postgresql:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n'
const APPLETS = [
  ...[
    'basename',
    'cat',
    'chmod',
    'chown',
    'cp',
    'cut',
    'date',
    'dirname',
    'echo',
    'env',
    'find',
    'grep',
    'head',
    'httpd',
    'id',
  ],
  ...['ls', 'mkdir', 'mv', 'nc', 'rm', 'sed', 'sh', 'sleep', 'su', 'tail', 'test', 'touch', 'tr', 'true', 'wget'],
]

const run = (command: string, args: readonly string[], input?: Buffer) =>
  spawnSync(command, args, { maxBuffer: 1024 ** 3, ...(input && { input }) })

/** The files that a program or a library is linked to, the loader among them. */
const linkedTo = (path: string): string[] =>
  [
    ...run('ldd', [path])
      .stdout.toString()
      .matchAll(/(?:^|\s)(\/(?:usr\/)?lib\S+)/gm),
  ]
    .map(([, file = '']) => file)
    .filter((file) => existsSync(file))

/** A root folder that grows. */
const makeRoot = (root: string) => {
  const place = (to: string): string => {
    mkdirSync(dirname(join(root, to)), { recursive: true })
    return join(root, to)
  }
  const isThere = (path: string) => existsSync(join(root, path))
  return {
    program(from: string, to: string) {
      copyFileSync(from, place(to))
      for (const file of linkedTo(from)) copyFileSync(file, place(file))
    },
    folder(from: string, to: string) {
      const filter = (path: string) => !/\/(?:__pycache__|idlelib|python3\.\d+\/test)$/.test(path)
      cpSync(from, place(to), { recursive: true, verbatimSymlinks: true, filter })
      const libraries = run('find', [from, '-name', '*.so*', '-type', 'f'])
        .stdout.toString()
        .split('\n')
        .filter(Boolean)
      const needed = new Set(libraries.flatMap(linkedTo))
      for (const file of needed) if (!isThere(file)) copyFileSync(file, place(file))
    },
    link(path: string, target: string) {
      if (!isThere(path)) symlinkSync(target, place(path))
    },
    file(path: string, { text, mode = 0o644 }: TextFile) {
      writeFileSync(place(path), text, { mode })
    },
  }
}

const packed = ({ programs, folders = {}, files = {}, links = {} }: BaseImage): Buffer => {
  const folder = mkdtempSync('/tmp/bottega-base-')
  const root = makeRoot(folder)
  try {
    for (const [from, to] of Object.entries({ [BUSYBOX]: 'bin/busybox', ...programs })) root.program(from, to)
    for (const [from, to] of Object.entries(folders)) root.folder(from, to)
    for (const applet of APPLETS) root.link(`bin/${applet}`, 'busybox')
    for (const [path, target] of Object.entries(links)) root.link(path, target)
    for (const [path, file] of Object.entries({ ...files, 'etc/passwd': { text: PASSWD } })) root.file(path, file)
    for (const name of ['tmp', 'srv', 'root', 'dev', 'proc', 'sys']) mkdirSync(join(folder, name), { recursive: true })
    run('chmod', ['755', folder])
    run('chmod', ['1777', join(folder, 'tmp')])
    return run('tar', ['-C', folder, '--owner=0', '--group=0', '-cf', '-', '.']).stdout
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Gives an image to the Docker of the run, unless it has it. @throws Error with what Docker said */
export const importBase = (image: BaseImage): void => {
  ensurePackages([{ name: 'busybox-static', files: [BUSYBOX] }], { what: 'The images of the tests' })
  const docker = (args: readonly string[], input?: Buffer) =>
    run('docker', ['--host', `unix://${process.env.BOTTEGA_TEST_DOCKER}`, ...args], input)
  if (docker(['image', 'inspect', image.name]).status === 0) return
  const changes = ['ENV PATH=/usr/local/bin:/usr/bin:/bin', ...(image.changes ?? [])].flatMap((one) => [
    '--change',
    one,
  ])
  const { status, stderr } = docker(['import', ...changes, '-', image.name], packed(image))
  if (status !== 0) throw new Error(`${image.name} was not imported: ${stderr}`)
}

export const nodeBase = (): BaseImage => ({
  name: 'node:26-slim',
  programs: { [process.execPath]: 'usr/local/bin/node' },
  changes: ['CMD ["node"]'],
})

const PYTHON = ['django', 'psycopg2', 'gunicorn', 'asgiref', 'sqlparse', 'pytz', 'pkg_resources']

/** With Django and what talks to PostgreSQL, as an image of one's own has them. */
export const djangoBase = (): BaseImage => {
  const packages = [
    { name: 'python3', files: ['/usr/bin/python3'] },
    { name: 'tzdata', files: ['/usr/share/zoneinfo/tzdata.zi'] },
    { name: 'python3-django', files: ['/usr/lib/python3/dist-packages/django/__init__.py'] },
    { name: 'python3-psycopg2', files: ['/usr/lib/python3/dist-packages/psycopg2/__init__.py'] },
    { name: 'python3-gunicorn', files: ['/usr/lib/python3/dist-packages/gunicorn/__init__.py'] },
  ]
  ensurePackages(packages, { what: 'The project with Django' })
  const version = run('/usr/bin/python3', ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])'])
    .stdout.toString()
    .trim()
  const lib = `usr/lib/python${version}`
  return {
    name: 'python-django:slim',
    programs: { '/usr/bin/python3': 'usr/bin/python3' },
    folders: Object.fromEntries(
      [lib, 'usr/share/zoneinfo', ...PYTHON.map((name) => `usr/lib/python3/dist-packages/${name}`)].map((path) => [
        `/${path}`,
        path,
      ]),
    ),
    links: { 'usr/bin/python': 'python3' },
    changes: ['ENV PYTHONUNBUFFERED=1', 'ENV PYTHONDONTWRITEBYTECODE=1', 'CMD ["python3"]'],
  }
}

/** As the entrypoint of the official image: its folder is given to its user, whom it becomes; a new one is made before. */
const POSTGRES = `#!/bin/sh
set -e
data=\${PGDATA:-/var/lib/postgresql/data}
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$data" /var/run/postgresql
  find "$data" ! -user postgres -exec chown postgres {} +
  chown postgres /var/run/postgresql
  chmod 700 "$data"
  exec su -s /bin/sh postgres -c 'exec /usr/local/bin/docker-entrypoint.sh'
fi
if [ ! -s "$data/PG_VERSION" ]; then
  [ -n "$POSTGRES_PASSWORD" ] || { echo 'Error: Database is uninitialized and superuser password is not specified.'; exit 1; }
  printf '%s\\n' "$POSTGRES_PASSWORD" > /tmp/password
  initdb -D "$data" -U "\${POSTGRES_USER:-postgres}" --pwfile=/tmp/password --no-locale -E UTF8 -A trust -N
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$data/pg_hba.conf"
  db=\${POSTGRES_DB:-\${POSTGRES_USER:-postgres}}
  [ "$db" = postgres ] || echo "create database \\"$db\\"" | postgres --single -j -D "$data" postgres
fi
exec postgres -D "$data" -k /var/run/postgresql -h '*'
`

/** Says whether a server answers: there is no program for it beside the server that the tests come with. */
const PG_ISREADY = '#!/bin/sh\nnc -w 2 127.0.0.1 5432 </dev/null\n'

export const postgresBase = (): BaseImage => {
  const native = dirname(postgresBinaries(postgresUser()))
  return {
    name: 'postgres:18-alpine',
    programs: {
      [join(native, 'bin/postgres')]: 'opt/postgres/bin/postgres',
      [join(native, 'bin/initdb')]: 'opt/postgres/bin/initdb',
    },
    folders: { [join(native, 'lib')]: 'opt/postgres/lib', [join(native, 'share')]: 'opt/postgres/share' },
    files: {
      'usr/local/bin/docker-entrypoint.sh': { text: POSTGRES, mode: 0o755 },
      'usr/local/bin/pg_isready': { text: PG_ISREADY, mode: 0o755 },
    },
    links: {
      'usr/local/bin/postgres': '/opt/postgres/bin/postgres',
      'usr/local/bin/initdb': '/opt/postgres/bin/initdb',
    },
    changes: ['VOLUME /var/lib/postgresql/data', 'EXPOSE 5432', 'ENTRYPOINT ["docker-entrypoint.sh"]'],
  }
}

export const busyboxBase = (): BaseImage => ({ name: 'busybox:1', programs: {}, changes: ['CMD ["sh"]'] })
