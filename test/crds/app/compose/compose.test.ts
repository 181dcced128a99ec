import { type ComposeVerdict, judgeCompose } from '../../../../crds/app/compose/judge.ts'
import type { DeployTarget } from '../../../../crds/app/compose/project.ts'
import {
  FILES,
  hostileBuilds,
  hostileKeys,
  hostileMounts,
  withBuild,
  withKey,
  withTop,
} from '../../../support/builders/compose/hostilecompose.ts'
import { hostileFiles, hostileImages, hostileTops } from '../../../support/builders/compose/hostilefiles.ts'
import { shared, sourceOf } from '../../../support/builders/sources/upload.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const judge = (text: string, deployTarget: Partial<DeployTarget> = {}): ComposeVerdict =>
  judgeCompose(sourceOf({ ...FILES, 'docker-compose.yml': text }), { ...shared, ...deployTarget })

/** What keeps it from running, as `rule pointer`. */
const refusals = (verdict: ComposeVerdict): string[] =>
  verdict.ok
    ? []
    : verdict.findings.filter(({ level }) => level === 'refuse').map(({ rule, pointer }) => `${rule} ${pointer}`)

const WEB = '/services/web'

const lineOf = (text: string, part: string): number => text.split('\n').findIndex((line) => line.includes(part)) + 1
const keyOf = (lines: string): string => lines.slice(0, lines.indexOf(':'))

spec('a compose file that asks for too much', (t) => {
  const env = { SOCK: '/var/run/docker.sock', BIG: 'x'.repeat(65_536) }
  for (const [lines, rule, inside = ''] of hostileKeys) {
    const pointer = inside.startsWith('^')
      ? inside.slice(1)
      : `${WEB}/${keyOf(lines)}`.replace(
          /$/,
          inside.startsWith(`/${keyOf(lines)}`) ? inside.slice(keyOf(lines).length + 1) : inside,
        )
    t(`is refused for ${lines}`, () =>
      assert.ok(
        refusals(judge(withKey(lines), { env })).includes(`${rule} ${pointer}`),
        `${rule} ${pointer} ≠ ${refusals(judge(withKey(lines), { env }))}`,
      ),
    )
  }
  for (const [entry, rule, inside = ''] of hostileMounts) {
    t(`is refused for a mount of ${entry}`, () => {
      const found = refusals(judge(`${withKey(`volumes:\n  - ${entry}`)}volumes: {data: {}}\n`, { env }))
      assert.equal(found, [`${rule} ${WEB}/volumes/0${inside}`])
    })
  }
  for (const [lines, rule, key] of hostileBuilds) {
    t(`is refused for a build with ${JSON.stringify(lines)}`, () =>
      assert.equal(refusals(judge(withBuild(lines))), [`${rule} ${WEB}/build${key === '' ? '' : `/${key}`}`]),
    )
  }
  for (const [lines, rule, pointer] of hostileTops) {
    t(`is refused for ${lines} at the top`, () => assert.equal(refusals(judge(withTop(lines))), [`${rule} ${pointer}`]))
  }
  for (const [image, rule] of hostileImages) {
    t(`is refused for the image ${image}`, () =>
      assert.equal(refusals(judge(`services: {web: {image: ${JSON.stringify(image)}, expose: [80]}}`)), [
        `${rule} ${WEB}/image`,
      ]),
    )
  }
  for (const [sentence, text, refused] of hostileFiles) {
    t(`is refused for ${sentence}`, () =>
      assert.ok(refusals(judge(text, { env })).includes(refused), String(refusals(judge(text, { env })))),
    )
  }

  t('is told the line, what is wrong and what to write instead', () => {
    const text = withKey('user: "1000"\nprivileged: true')
    const verdict = judge(text)
    assert.not(verdict.ok)
    const [finding] = verdict.ok ? [] : verdict.findings
    assert.equal(finding, {
      rule: 'privileges',
      level: 'refuse',
      pointer: '/services/web/privileged',
      file: 'docker-compose.yml',
      line: lineOf(text, 'privileged'),
      detail: 'A privileged container is root on the host.',
      next: 'Remove it.',
    })
  })

  t('is told the line of an env file', () => {
    const verdict = judge(withKey('env_file: bad.env'))
    const [finding] = verdict.ok ? [] : verdict.findings
    assert.is(`${finding?.file}:${finding?.line}`, 'bad.env:1')
  })

  t('is never shown a value of the env', () => {
    const secret = 'hunter2-very-secret'
    const keys = hostileKeys.map(([lines]) => keyOf(lines))
    for (const key of new Set([...keys, 'image', 'volumes', 'build', 'expose'])) {
      const places = [
        `${key}: "\${S}"`,
        `${key}: ["\${S}"]`,
        `${key}: ["./\${S}:/x"]`,
        `${key}: {a: "\${S}"}`,
        `${key}: [{source: "\${S}", target: "\${S}"}]`,
        `${key}: {path: "\${S}", context: "\${S}"}`,
      ]
      for (const place of places) {
        const text = `services:\n  web:\n    ${place}\nsecrets: {"hunter2-very-secret": {file: app.env}}\n`
        const verdict = judge(text, { env: { S: secret } })
        assert.not.ok(JSON.stringify(verdict.ok ? [] : verdict.findings).includes(secret), place)
      }
    }
  })

  t('is told at most 100 findings', () => {
    const services = Array.from(
      { length: 20 },
      (_, n) => `  s${n}: {privileged: true, pid: host, uts: host, a1: 1, a2: 1, a3: 1, a4: 1}`,
    )
    const verdict = judge(`services:\n${services.join('\n')}\n`)
    assert.is(verdict.ok ? 0 : verdict.findings.length, 100)
  })

  t('has one of 300 faults', () => {
    const all = [hostileKeys, hostileMounts, hostileBuilds, hostileTops, hostileFiles, hostileImages]
    assert.ok(all.flat().length >= 300, String(all.flat().length))
  })
})
