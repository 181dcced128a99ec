import { judgeCompose, recipesOf } from '../../../../crds/app/compose/judge.ts'
import type { SourceIndex } from '../../../../crds/app/sources/source.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const deployTarget = {
  slug: 's',
  env: {},
  route: null,
  budget: { cpuMillis: 1_000, memoryMib: 1_024, diskGib: 10 },
  hostClass: 'shared',
  arch: 'amd64',
  remapsUsers: true,
} as const

const sourceOf = (files: Record<string, string>): SourceIndex => {
  const texts = new Map(Object.entries(files))
  const entries = [...texts].map(([path, text]) => ({
    path,
    bytes: text.length,
    sha256: 'a'.repeat(64),
    mode: 0o644,
  }))
  return { entries, composePath: 'compose.yaml', texts } as unknown as SourceIndex
}

/** Where a Dockerfile is refused: its line, after the file. */
const refused = (dockerfile: string, build = '.'): string[] => {
  const compose = `services: {web: {build: ${build}, expose: [80]}}`
  const verdict = judgeCompose(sourceOf({ 'compose.yaml': compose, Dockerfile: dockerfile }), deployTarget)
  return verdict.ok ? [] : verdict.findings.filter(({ level }) => level === 'refuse').map((f) => `${f.file}:${f.line}`)
}

const HEAD = 'FROM scratch\nCOPY a /a\n'

spec('a Dockerfile', (t) => {
  const fine: [string, string][] = [
    ['nothing from elsewhere', HEAD],
    ['the frontend that builds here', `# syntax=docker/dockerfile:1.7\n${HEAD}`],
    ['images of public registries', 'FROM node:20 AS one\nFROM ghcr.io/a/b@sha256:'.concat('0'.repeat(64), '\n')],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a variable of the Dockerfile
    ['an image whose version is an argument', 'ARG V=20\nFROM node:${V:-1}-alpine\n'],
    ['a stage of its own', 'FROM a AS Build\nFROM build\nCOPY --from=build /a /a\nCOPY --from=0 /a /a\n'],
    ['a cache', `${HEAD}RUN --mount=type=cache,target=/c \\\n  # why\n\n  npm ci\n`],
    ['a here-document that looks like instructions', `${HEAD}RUN <<-EOF\nFROM 127.0.0.1/x\n\tEOF\nRUN true\n`],
    ['a file of a public address', `${HEAD}ADD https://example.org/x.tgz /x\n`],
    ['a step without a network', `${HEAD}RUN --network=none true\n`],
    ['its upload', 'FROM scratch\nADD ["x.git.txt", "/x"]\n'],
  ]
  for (const [what, text] of fine) t(`may use ${what}`, () => assert.equal(refused(text), []))

  const evil = 'evil.example.com/frontend:1'
  const other = 'bottega.local/victim/web:1'
  const wrong: [string, string, number][] = [
    ['another frontend', `# syntax=${evil}\n${HEAD}`, 1],
    ['another frontend behind another directive', `# escape=\\\n#  SYNTAX = ${evil}\n${HEAD}`, 2],
    ['another frontend behind two slashes', `// syntax=${evil}\n${HEAD}`, 1],
    ['another frontend in JSON', `{"syntax":"${evil}"}\n${HEAD}`, 1],
    ['another frontend behind a shebang', `#!/bin/sh\n# syntax=${evil}\n${HEAD}`, 2],
    ['another frontend of a like name', `# syntax=docker/dockerfile-evil\n${HEAD}`, 1],
    ['an image that was built here', `FROM ${other}\n`, 1],
    ['an image by its id', `FROM ${'0'.repeat(64)}\n`, 1],
    ['an image of the host', 'FROM localhost/x\n', 1],
    ['an image of a private registry', 'FROM registry.internal/x\n', 1],
    ['an image by an argument', 'ARG BASE=127.0.0.1:5000/x\nFROM $BASE\n', 2],
    ['files of an image that was built here', `${HEAD}COPY --from=${other} / /o\n`, 3],
    ['a mount of an image that was built here', `${HEAD}RUN --mount=from=${other},target=/m true\n`, 3],
    ['keys of the host', `${HEAD}RUN --mount=type=ssh true\n`, 3],
    ['secrets of the host', `${HEAD}RUN --mount=type=secret,id=x true\n`, 3],
    ['rights of the host', `${HEAD}RUN --security=insecure true\n`, 3],
    ['rights of the host, over several lines', `${HEAD}run \\\n --security=insecure \\\n true\n`, 3],
    ['rights of the host, with another escape', `# escape=\`\n${HEAD}RUN \`\n --security=insecure true\n`, 4],
    ['the network of the host', `${HEAD}RUN --network=host true\n`, 3],
    ['the network of the host, later', `${HEAD}ONBUILD RUN --network=host true\n`, 3],
    ['a metadata service', `${HEAD}ADD http://169.254.169.254/latest /o\n`, 3],
    ['a private address', `${HEAD}ADD http://10.0.0.1/x /o\n`, 3],
    ['a private address in other digits', `${HEAD}ADD http://0x0a000001/x /o\n`, 3],
    ['a private name', `${HEAD}ADD http://metadata.google.internal/x /o\n`, 3],
    ['a repository', `${HEAD}ADD git://127.0.0.1/x.git /o\n`, 3],
    ['a repository over ssh', `${HEAD}ADD git@127.0.0.1:x.git /o\n`, 3],
    ['something behind a here-document', `${HEAD}RUN <<EOF\nx\nEOF\nRUN --network=host true\n`, 6],
  ]
  for (const [what, text, line] of wrong) {
    t(`may not use ${what}`, () => assert.equal(refused(text), [`Dockerfile:${line}`]))
  }

  t('is judged where it stands in the compose file, too', () => {
    assert.is(refused(HEAD, `{context: ., dockerfile_inline: "# syntax=${evil}\\nFROM scratch"}`).length, 1)
    assert.is(refused(HEAD, `{context: ., args: {BUILDKIT_SYNTAX: "${evil}"}}`).length, 1)
  })
  t('that is too long is refused', () => assert.is(refused(`${HEAD}# ${'x'.repeat(70_000)}\n`).length, 1))
  t('is read with the upload', () => {
    const compose = 'services: {web: {build: {context: a, dockerfile: ../D}}, b: {build: .}, c: {image: "x:1"}}'
    const source = sourceOf({ 'compose.yaml': compose, D: '', Dockerfile: '', 'a/x': '' })
    assert.equal(recipesOf(source, deployTarget), ['D', 'Dockerfile'])
  })
})
