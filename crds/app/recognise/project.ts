/**
 * A project that came without a compose file: what is read of it, and what is written for it (rules/app.md#recognised-projects).
 * What is written is judged like anything that was sent.
 */

/** The paths of an upload, and the texts of those that `wantedTexts` names. */
export type ProjectFiles = { paths: ReadonlySet<string>; texts: ReadonlyMap<string, string> }

export const PROJECT_KINDS = [
  'dockerfile',
  'next',
  'vite',
  'node',
  'django',
  'fastapi',
  'flask',
  'python',
  'go',
  'static',
] as const
export type ProjectKind = (typeof PROJECT_KINDS)[number]

/** Files that are added to the upload, at its root. */
export type WrittenFile = { path: string; text: string }

/** `why`: sentences, what was seen and what follows from it. */
export type Recognised = { kind: ProjectKind; why: string[]; files: WrittenFile[] }

/** `missed`: what a project of this sort has and this one has not, as a sentence. */
export type Look = { found: Recognised } | { missed: string }

export type Recogniser = (files: ProjectFiles) => Look

/** The compose file that is written, and the one of the JSON form of an upload. */
export const WRITTEN_COMPOSE = 'docker-compose.yml'

const IGNORED = ['.git', '.dockerignore', WRITTEN_COMPOSE, 'Dockerfile']

export type WrittenProject = {
  kind: ProjectKind
  why: string[]
  port: number
  /** Null where the upload has one. */
  dockerfile: readonly string[] | null
  /** The name of the Dockerfile. */
  recipe?: string
  /** What no build takes from the upload, beside what never belongs into an image. */
  ignored?: readonly string[]
  /** Further lines of the compose file: of the service, and after it. */
  more?: { service?: readonly string[]; after?: readonly string[] }
}

const lines = (given: readonly string[]): string => `${given.join('\n')}\n`

/** One service `web`, built from the upload, that is told its port by PORT. */
export const written = (files: ProjectFiles, given: WrittenProject): Look => {
  const { kind, why, port, dockerfile, recipe = 'Dockerfile', ignored = [], more = {} } = given
  const compose = [
    '# WrittenProject by the platform: the upload has no compose file. Put one of your own beside it to say it otherwise.',
    'services:',
    '  web:',
    ...(recipe === 'Dockerfile' ? ['    build: .'] : ['    build:', '      context: .', `      dockerfile: ${recipe}`]),
    '    environment:',
    `      PORT: "${port}"`,
    ...(more.service ?? []),
    '    expose:',
    `      - "${port}"`,
    ...(more.after ?? []),
  ]
  const own: WrittenFile[] = dockerfile === null ? [] : [{ path: 'Dockerfile', text: lines(dockerfile) }]
  // Who says what a build is not given has said it.
  const isTold = dockerfile === null || files.paths.has('.dockerignore')
  const ignore = isTold ? [] : [{ path: '.dockerignore', text: lines([...IGNORED, ...ignored]) }]
  return { found: { kind, why, files: [{ path: WRITTEN_COMPOSE, text: lines(compose) }, ...own, ...ignore] } }
}

/** What may stand in a line of a Dockerfile as it is. */
export const isPlain = (text: string): boolean => /^[\w@+./-]{1,200}$/.test(text) && !text.includes('..')

/** A command in its exec form, whatever is in it. */
export const exec = (...words: string[]): string => JSON.stringify(words)

/** Through a shell that gives way to what it starts. */
export const shell = (command: string): string => exec('sh', '-c', command)

/** What a Procfile says that serves visitors; null where none does. */
export const procfileWeb = ({ texts }: ProjectFiles): string | null =>
  /^web:[ \t]*(\S[^\n\r]{0,500})$/m.exec(texts.get('Procfile') ?? '')?.[1]?.trim() ?? null
