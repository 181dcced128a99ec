/** What a bundler turns into files: Vite (with React or anything else), and others that only make a folder. */
import { installing, nodeImage, type PackageJson, packageOf, runScript, sayInstalled } from './packages.ts'
import { isPlain, type ProjectFiles, type Recogniser, written } from './project.ts'
import { STATIC_PORT, servedStage } from './served.ts'

type Bundler = { name: string; needs: string; out: string; fixed: string | null; isOnePage: boolean }

const BUNDLERS: readonly Bundler[] = [
  { name: 'Astro', needs: 'astro', out: 'dist', fixed: '_astro', isOnePage: false },
  { name: 'Vite', needs: 'vite', out: 'dist', fixed: 'assets', isOnePage: true },
  { name: 'Create React App', needs: 'react-scripts', out: 'build', fixed: 'static', isOnePage: true },
  { name: 'Vue CLI', needs: '@vue/cli-service', out: 'dist', fixed: null, isOnePage: true },
]
export const VITE_CONFIGS = ['vite.config.js', 'vite.config.ts', 'vite.config.mjs', 'vite.config.mts']

/** What has a server of its own is not files alone. */
const SERVES = [
  '@astrojs/node',
  '@sveltejs/kit',
  'nuxt',
  '@react-router/serve',
  '@remix-run/serve',
  '@tanstack/react-start',
]
const PREVIEWS = /^(?:npx )?(?:vite|astro|serve|http-server|react-scripts|vue-cli-service)\b/

const outOf = ({ texts }: ProjectFiles, { out, needs }: Bundler): string => {
  if (needs !== 'vite') return out
  const text = VITE_CONFIGS.map((name) => texts.get(name) ?? '').join('\n')
  const said = /\boutDir\s{0,20}:\s{0,20}['"]([\w./-]{1,100})['"]/.exec(text)?.[1]?.replace(/^\.\//, '')
  return said !== undefined && isPlain(said) && !said.startsWith('/') ? said : out
}

const missed = 'package.json with a script build and one of vite, astro, react-scripts or @vue/cli-service'

const bundlerOf = ({ needs, scripts }: PackageJson): Bundler | undefined => {
  const { start } = scripts
  if (SERVES.some((name) => needs.has(name)) || (start !== undefined && !PREVIEWS.test(start))) return undefined
  return BUNDLERS.find((one) => needs.has(one.needs))
}

export const recogniseFrontend: Recogniser = (files) => {
  const given = packageOf(files)
  const bundler = given && bundlerOf(given)
  if (!given || !bundler || given.scripts.build === undefined) return { missed }
  const out = outOf(files, bundler)
  const install = installing(files, given)
  const { fixed, isOnePage, needs, name } = bundler
  const dockerfile = [
    `FROM ${nodeImage(files, given).build} AS build`,
    'WORKDIR /app',
    ...install.install,
    'COPY . .',
    `RUN ${runScript(install, 'build')}`,
    ...servedStage(`--from=build /app/${out}/ /srv/`, { isOnePage, fixed, notFound: isOnePage ? null : '404.html' }),
  ]
  const withReact = given.needs.has('react') ? ' + React' : ''
  const why = [
    `package.json needs ${needs} (${name}${withReact}).`,
    sayInstalled(install),
    `What the build writes to ${out} is served.`,
  ]
  return written(files, { kind: 'vite', why, port: STATIC_PORT, dockerfile, ignored: ['node_modules', out] })
}
