/** Which sort of project an upload without a compose file is, and what is written for it (rules/app.md#recognised-projects). */
import { COMPOSE_NAMES } from '../sources/source.ts'
import { recogniseDockerfile } from './dockerfile.ts'
import { recogniseFrontend, VITE_CONFIGS } from './frontend.ts'
import { recogniseGo } from './go.ts'
import { NEXT_CONFIGS, recogniseNext } from './next.ts'
import { recogniseNode } from './node.ts'
import type { ProjectFiles, Recognised, Recogniser } from './project.ts'
import { djangoSettings, pythonModules, recognisePython } from './python.ts'
import { recogniseStatic } from './static.ts'

/** In this order: who says more of himself comes first. */
const SORTS: readonly { name: string; recognise: Recogniser }[] = [
  { name: 'a Dockerfile', recognise: recogniseDockerfile },
  { name: 'Next.js', recognise: recogniseNext },
  { name: 'Vite and other bundlers', recognise: recogniseFrontend },
  { name: 'Node', recognise: recogniseNode },
  { name: 'Python', recognise: recognisePython },
  { name: 'Go', recognise: recogniseGo },
  { name: 'static files', recognise: recogniseStatic },
]

/** At the root; one of them makes a folder a project. */
const MARKS = ['package.json', 'requirements.txt', 'pyproject.toml', 'Pipfile', 'go.mod', 'index.html']
const READ = [
  'Procfile',
  'pnpm-lock.yaml',
  '.nvmrc',
  '.node-version',
  '.python-version',
  'runtime.txt',
  ...NEXT_CONFIGS,
  ...VITE_CONFIGS,
]
/** Of one of them; what is longer is cut, and then no JSON. */
export const RECOGNISED_MAX_CHARS = 65_536
const GO_FILES_MAX = 40

const isRecipe = (path: string): boolean => /^dockerfile$/i.test(path)

/** The files whose texts recognising a project takes. */
export const wantedTexts = (paths: ReadonlySet<string>): string[] => {
  const own = [...MARKS, ...READ].filter((path) => path !== 'index.html' && paths.has(path))
  const programs = [...paths].filter((path) => /^[\w.-]{1,100}\.go$/.test(path)).slice(0, GO_FILES_MAX)
  const python = [...pythonModules(paths), ...djangoSettings(paths)]
  return [...new Set([...own, ...[...paths].filter(isRecipe), ...programs, ...python])]
}

/** The one folder that everything lies in, as `my-app/`, when that is a project and the root is none; '' otherwise. */
export const projectFolder = (paths: ReadonlySet<string>): string => {
  const [first = ''] = paths
  const folder = first.slice(0, first.indexOf('/') + 1)
  if (folder === '' || ![...paths].every((path) => path.startsWith(folder))) return ''
  return [...paths].some((path) => MARKS.includes(path.slice(folder.length)) || isRecipe(path.slice(folder.length)))
    ? folder
    : ''
}

export type Recognition = { ok: true; project: Recognised } | { ok: false; detail: string }

/** Pure and total: the same files give the same project, or what was looked for and is not there. */
export const recognise = (files: ProjectFiles): Recognition => {
  const missed: string[] = []
  for (const { name, recognise } of SORTS) {
    const look = recognise(files)
    if ('found' in look) return { ok: true, project: look.found }
    missed.push(`${name}: ${look.missed}`)
  }
  const looked = missed.join('; ')
  return {
    ok: false,
    detail: `At the root there is none of ${COMPOSE_NAMES.join(', ')}, and no project that is known. Looked for ${looked}.`,
  }
}
