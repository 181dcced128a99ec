/** What a project in Python needs, and what installs it. */
import type { ProjectFiles } from './project.ts'

export const PYTHON_MANIFESTS = ['requirements.txt', 'pyproject.toml', 'Pipfile'] as const

const VERSION_DEFAULT = '3.13'
const MINOR_MIN = 9
const MINOR_MAX = 14

/** `3.12` for what asks for it, by .python-version, runtime.txt or requires-python. */
export const pythonVersion = ({ texts }: ProjectFiles): string => {
  const exact = `${texts.get('.python-version') ?? ''}\n${texts.get('runtime.txt') ?? ''}`
  const [, said] = /^(?:python-)?3\.(\d{1,2})/m.exec(exact) ?? []
  const [, sign, asked] =
    /^requires-python\s{0,20}=\s{0,20}["'](==|~=|>=|\^)?\s?3\.(\d{1,2})/m.exec(texts.get('pyproject.toml') ?? '') ?? []
  const minor = Number(said ?? (sign === '>=' || sign === '^' ? undefined : asked))
  return minor >= MINOR_MIN && minor <= MINOR_MAX ? `3.${minor}` : VERSION_DEFAULT
}

/** Names of packages, in lower case and with `-`, that the manifests name anywhere at the head of a requirement. */
export const requirementsOf = ({ texts }: ProjectFiles): ReadonlySet<string> => {
  const manifests = PYTHON_MANIFESTS.map((name) => texts.get(name) ?? '').join('\n')
  const names = [...manifests.matchAll(/(?:^|["'])[ \t]{0,20}([A-Za-z][\w.-]{1,80})/gm)]
  return new Set(names.map(([, name = '']) => name.toLowerCase().replaceAll('_', '-')))
}

export type PythonInstall = { lines: string[]; why: string }

const pip = (command: string): string => `RUN --mount=type=cache,target=/root/.cache/pip ${command}`

type Way = { file: string; tool: string; copied: (has: (path: string) => boolean) => string[]; lines: string[] }

/** In this order: what is locked first. */
const WAYS: readonly Way[] = [
  {
    file: 'uv.lock',
    tool: 'uv installs exactly what it locks',
    copied: () => ['pyproject.toml', 'uv.lock'],
    lines: [
      pip('pip install uv'),
      'RUN --mount=type=cache,target=/root/.cache/uv UV_PROJECT_ENVIRONMENT=/venv uv sync --frozen --no-dev --no-install-project --inexact',
    ],
  },
  {
    file: 'poetry.lock',
    tool: 'poetry installs exactly what it locks',
    copied: () => ['pyproject.toml', 'poetry.lock'],
    lines: [
      'RUN python -m venv /poetry',
      pip(
        '/poetry/bin/pip install poetry && VIRTUAL_ENV=/venv /poetry/bin/poetry install --only main --no-root --no-interaction',
      ),
    ],
  },
  {
    file: 'Pipfile.lock',
    tool: 'pipenv installs exactly what it locks',
    copied: () => ['Pipfile', 'Pipfile.lock'],
    lines: [pip('pip install pipenv && PIPENV_VERBOSITY=-1 pipenv sync')],
  },
  {
    file: 'requirements.txt',
    tool: 'pip installs what it names',
    copied: () => ['requirements.txt'],
    lines: [pip('pip install -r requirements.txt')],
  },
]

/** @param server what serves it, where the project does not name it itself */
export const pythonInstall = ({ paths, texts }: ProjectFiles, server: string | null): PythonInstall => {
  const way = WAYS.find(({ file }) => paths.has(file))
  const extra = server === null ? [] : [pip(`pip install ${server}`)]
  if (!way) {
    // The project itself is what is installed.
    return {
      lines: ['COPY . .', pip('pip install .'), ...extra],
      why: 'pyproject.toml: pip installs it; nothing locks what it needs.',
    }
  }
  const { file, tool, copied, lines } = way
  // A requirement that names another file or the project itself needs all of it.
  const isWhole =
    file === 'requirements.txt' &&
    /^[ \t]{0,20}(?:-r|-c|-e|--requirement|--constraint|--editable|\.)/m.test(texts.get(file) ?? '')
  const copy = isWhole ? 'COPY . .' : `COPY ${copied((path) => paths.has(path)).join(' ')} ./`
  return { lines: [copy, ...lines, ...extra], why: `${file}: ${tool}.` }
}
