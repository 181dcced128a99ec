/** A server in plain Node: what package.json starts. */
import { installing, nodeImage, type PackageJson, packageOf, runScript, sayInstalled } from './packages.ts'
import { exec, isPlain, type ProjectFiles, procfileWeb, type Recogniser, shell, written } from './project.ts'

const PORT = 3_000
const MAINS = ['server.js', 'index.js', 'app.js', 'main.js', 'server.mjs', 'index.mjs']

/** `node server.js` is started as it is, so that what ends the container ends the server. */
const PLAIN_START = /^node(?: [\w./=-]{1,100}){1,6}$/

type Start = { command: string; why: string }

const startOf = (files: ProjectFiles, { scripts, main }: PackageJson): Start | null => {
  const web = procfileWeb(files)
  if (web !== null) return { command: shell(web), why: 'The Procfile says what serves visitors.' }
  const { start } = scripts
  if (start !== undefined) {
    const command = PLAIN_START.test(start) ? exec(...start.split(' ')) : exec('npm', 'run', 'start')
    return { command, why: `package.json starts it: ${JSON.stringify(start.slice(0, 200))}.` }
  }
  const file = [main, ...MAINS].find(
    (path): path is string => path !== null && isPlain(path) && files.paths.has(path.replace(/^\.\//, '')),
  )
  return file === undefined ? null : { command: exec('node', file), why: `${file} is what it starts with.` }
}

export const recogniseNode: Recogniser = (files) => {
  const given = packageOf(files)
  if (!given) return { missed: 'package.json that is JSON' }
  const start = startOf(files, given)
  if (!start) return { missed: `package.json with a script start or a main, or one of ${MAINS.join(', ')}` }
  const install = installing(files, given)
  const image = nodeImage(files, given)
  const builds = given.scripts.build !== undefined
  const dockerfile = [
    `FROM ${image.build} AS build`,
    'WORKDIR /app',
    ...install.install,
    'COPY . .',
    ...(builds ? [`RUN ${runScript(install, 'build')}`] : []),
    ...install.prune,
    `FROM ${image.run}`,
    'WORKDIR /app',
    `ENV NODE_ENV=production HOST=0.0.0.0 PORT=${PORT}`,
    'COPY --from=build --chown=1000:1000 /app ./',
    'USER 1000:1000',
    `EXPOSE ${PORT}`,
    `CMD ${start.command}`,
  ]
  const why = [start.why, sayInstalled(install), `It is told its port by PORT=${PORT}.`]
  return written(files, { kind: 'node', why, port: PORT, dockerfile, ignored: ['node_modules', '.env*'] })
}
