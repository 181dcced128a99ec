/** Next.js: its own server, the small one where the project asks for it (`output: 'standalone'`), or files alone (`export`). */
import { installing, nodeImage, packageOf, runScript, sayInstalled } from './packages.ts'
import { exec, type ProjectFiles, type Recogniser, written } from './project.ts'
import { STATIC_PORT, servedStage } from './served.ts'

const PORT = 3_000
const IGNORED = ['node_modules', '.next', 'out']
export const NEXT_CONFIGS = ['next.config.js', 'next.config.mjs', 'next.config.ts', 'next.config.cjs']

const outputOf = ({ texts }: ProjectFiles): string | null => {
  const text = NEXT_CONFIGS.map((name) => texts.get(name) ?? '').join('\n')
  return /\boutput\s{0,20}:\s{0,20}['"](standalone|export)['"]/.exec(text)?.[1] ?? null
}

const started = (image: string, copies: string[], command: string): string[] => [
  `FROM ${image}`,
  'WORKDIR /app',
  `ENV NODE_ENV=production NEXT_TELEMETRY_DISABLED=1 HOSTNAME=0.0.0.0 PORT=${PORT}`,
  ...copies.map((copy) => `COPY --from=build --chown=1000:1000 ${copy}`),
  'USER 1000:1000',
  `EXPOSE ${PORT}`,
  `CMD ${command}`,
]

export const recogniseNext: Recogniser = (files) => {
  const given = packageOf(files)
  if (!given?.needs.has('next')) return { missed: 'package.json with the dependency next' }
  const output = outputOf(files)
  const install = installing(files, given)
  const image = nodeImage(files, given)
  const build = [
    `FROM ${image.build} AS build`,
    'WORKDIR /app',
    'ENV NEXT_TELEMETRY_DISABLED=1',
    ...install.install,
    'COPY . .',
    // The stage after it copies the folder whether the project has one or not.
    'RUN mkdir -p public',
    `RUN ${given.scripts.build === undefined ? 'node_modules/.bin/next build' : runScript(install, 'build')}`,
  ]
  const why = ['package.json needs next.', sayInstalled(install)]
  if (output === 'export') {
    const stage = servedStage('--from=build /app/out/ /srv/', {
      isOnePage: false,
      fixed: '_next/static',
      notFound: '404.html',
    })
    const dockerfile = [...build, ...stage]
    return written(files, {
      kind: 'next',
      why: [...why, "output: 'export': files alone are served."],
      port: STATIC_PORT,
      dockerfile,
      ignored: IGNORED,
    })
  }
  const isSmall = output === 'standalone'
  const run = isSmall
    ? started(
        image.run,
        ['/app/public ./public', '/app/.next/standalone ./', '/app/.next/static ./.next/static'],
        exec('node', 'server.js'),
      )
    : started(image.run, ['/app ./'], exec('node_modules/.bin/next', 'start'))
  const said = isSmall
    ? "output: 'standalone': its small server runs."
    : "next start runs; output: 'standalone' makes a smaller image."
  const dockerfile = [...build, ...(isSmall ? [] : install.prune), ...run]
  return written(files, { kind: 'next', why: [...why, said], port: PORT, dockerfile, ignored: IGNORED })
}
