/** A program in Go: one binary on a small system, as nobody. */
import { isPlain, type ProjectFiles, type Recogniser, written } from './project.ts'

const PORT = 8_080
/** Folders that programs read while they run. */
const READ = ['templates', 'static', 'public', 'assets', 'migrations', 'views', 'web']

const directlyIn = (paths: ReadonlySet<string>, folder: string): string[] =>
  [...paths].filter((path) => path.startsWith(folder) && !path.slice(folder.length).includes('/'))

/** The packages that a program may be made of: the root, or one below cmd. */
const programsOf = ({ paths, texts }: ProjectFiles): string[] => {
  const isMain = (path: string) => /^package main\b/m.test(texts.get(path) ?? '')
  if (directlyIn(paths, '').some((path) => path.endsWith('.go') && isMain(path))) return ['.']
  const below = [...paths].flatMap((path) => /^cmd\/([\w.-]{1,100})\/[\w.-]{1,100}\.go$/.exec(path)?.[1] ?? [])
  return [...new Set(below)].sort().map((name) => `./cmd/${name}`)
}

/** Of several, the one that serves. */
const chosen = (programs: readonly string[]): string | undefined => {
  const named = ['server', 'api', 'web', 'app'].map((name) => `./cmd/${name}`).find((one) => programs.includes(one))
  return named ?? (programs.length === 1 ? programs[0] : undefined)
}

export const recogniseGo: Recogniser = (files) => {
  const { paths } = files
  if (!paths.has('go.mod')) return { missed: 'go.mod at the root' }
  const programs = programsOf(files)
  const program = chosen(programs)
  if (program === undefined || !isPlain(program)) {
    const several = programs.length > 1 ? `; cmd has ${programs.length} and none is named server, api, web or app` : ''
    return { missed: `beside go.mod a package main, at the root or in cmd/<name>${several}` }
  }
  const isVendored = paths.has('vendor/modules.txt')
  const isLocked = paths.has('go.sum')
  const folders = READ.filter((name) => [...paths].some((path) => path.startsWith(`${name}/`)))
  const fetched = [
    `COPY go.mod${isLocked ? ' go.sum' : ''} ./`,
    'RUN --mount=type=cache,target=/go/pkg/mod go mod download',
  ]
  const dockerfile = [
    'FROM golang:1-alpine AS build',
    'WORKDIR /src',
    'ENV CGO_ENABLED=0',
    ...(isVendored ? [] : fetched),
    'COPY . .',
    'RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \\',
    `  go build -trimpath -ldflags=-s -o /out/app ${program}`,
    'FROM alpine:3',
    'WORKDIR /app',
    'COPY --from=build /out/app /app/app',
    ...folders.map((name) => `COPY ${name} /app/${name}`),
    'USER 65532:65532',
    `ENV PORT=${PORT}`,
    `EXPOSE ${PORT}`,
    'CMD ["/app/app"]',
  ]
  const why = [`go.mod and a package main in ${program}.`, `It is told its port by PORT=${PORT}.`]
  return written(files, { kind: 'go', why, port: PORT, dockerfile, ignored: ['.env*'] })
}
