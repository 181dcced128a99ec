/** The table of commands: every operation is in it, and what was typed wrong is said before anything is sent. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { findCommand, readFlags, wordsOf } from '../../../api/client/cli/args.ts'
import { EXIT, POLICY_CODES } from '../../../api/client/cli/net/outcome.ts'
import { visible } from '../../../api/client/cli/show/terminal.ts'
import { durationMs } from '../../../api/client/cli/show/words.ts'
import { COMMANDS } from '../../../api/client/cli/table/commands.ts'
import { placeOf } from '../../../api/client/cli/table/described.ts'
import { commandsOf, type Surface } from '../../../api/client/cli/table/table.ts'
import { descriptions } from '../../../api/wiring/routes.ts'
import { isProblemCode } from '../../../crds/kernel/problem.ts'
import { describedOperations } from '../../../hack/generators/client.ts'
import { CLIENT, makeCli } from '../../support/client/cli.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { root } from '../../support/structure/tree.ts'

/** As a file that only its owner reads it may hold; nothing is asked with it here. */
const TOKEN = 'btg_0123456789abcdef_0123456789abcdef'
const cli = makeCli({ env: { BOTTEGA_URL: 'http://127.0.0.1:9' } })

const documentOf = (name: string): object => {
  const document = descriptions().get(`/api/openapi-${name}.json`)
  if (!document) throw new Error(`${name} is not described`)
  return document
}

const twice = (names: readonly string[]): string[] => names.filter((name, at) => names.indexOf(name) !== at)

spec('the table of commands', (t) => {
  t('has a command for each operation of apps and of dev instances, and each name once', () => {
    const places = new Set(COMMANDS.map(({ operation }) => placeOf(operation)))
    for (const surface of ['apps', 'devboxes']) {
      const described = describedOperations(documentOf(surface)).map(placeOf)
      assert.ok(described.length > 20)
      assert.equal(
        described.filter((place) => !places.has(place)),
        [],
      )
    }
    assert.equal(twice(COMMANDS.map(({ name }) => name)), [])
  })

  t('gives every operation of the other surfaces a name of its own once they have a table', () => {
    for (const [name, under] of [
      ['invoices', '/api'],
      ['websites', '/api/website'],
    ] as const) {
      const subject = { word: name, path: `${under}/{id}`, list: under, member: name, knownBy: 'id' }
      const surface: Surface = { name, words: name, under, subject, rows: [], secrets: [] }
      const commands = commandsOf(surface, describedOperations(documentOf(name)))
      assert.ok(commands.length > 5, name)
      assert.equal(twice(commands.map((one) => one.name)), [], name)
      assert.ok(
        commands.every((one) => one.name.startsWith(`${name}`)),
        name,
      )
    }
  })

  t('has what README and the examples of each command say', () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8')
    const typed = [
      ...[...readme.matchAll(/^bottega (?!\(\))(.*?)(?: +#.*| \\)?$/gm)].flatMap(([, line = '']) =>
        line.split(' && bottega '),
      ),
      ...COMMANDS.flatMap(({ row }) => row.examples ?? []),
    ]
    assert.ok(typed.length > 30, `${typed.length}`)
    for (const line of typed) {
      // what the shell would take for itself
      const argv = line.replace(/ [<>|] .*$/, '').split(' ')
      const command = findCommand(wordsOf(argv), COMMANDS)
      assert.ok(command, line)
      assert.ok(readFlags(argv, command).words.length >= 0, line)
    }
  })

  t('refuses a row that names no operation', () => {
    const [{ surface }] = COMMANDS as unknown as [{ surface: Surface }]
    const rows = [{ name: 'x', does: 'GET /api/nothing' }]
    assert.throws(() => commandsOf({ ...surface, rows }, []), /no operation/)
  })

  t('knows codes of policy that the platform has', () => {
    assert.equal(
      POLICY_CODES.filter((code) => !isProblemCode(code)),
      [],
    )
  })

  t('is one file of at most 400 kB that loads nothing but what Node has', () => {
    assert.ok(statSync(CLIENT).size <= 400_000, `${statSync(CLIENT).size}`)
    const imports = [...readFileSync(CLIENT, 'utf8').matchAll(/^import .* from "([^"]+)"/gm)].map(([, name]) => name)
    assert.ok(imports.length > 5)
    assert.equal(
      imports.filter((name) => !name?.startsWith('node:')),
      [],
    )
  })

  t('helps with each command, and lists them all', async () => {
    const { code, out } = await cli(['help'])
    assert.is(code, 0)
    const listed = out.split('\n')
    for (const { name } of COMMANDS) {
      assert.ok(
        listed.some((line) => line === `  ${name}` || line.startsWith(`  ${name} `)),
        name,
      )
    }
    for (const args of [
      ['deploy', '--help'],
      ['help', 'env', 'set'],
      ['hosts', 'register', '-h'],
      ['devbox', 'resize', '--help'],
    ]) {
      const help = await cli(args)
      assert.is(help.code, 0, help.err)
      assert.match(help.out, /^bottega .*\n[\s\S]*It does (POST|PATCH) \/api\/(apps|devboxes)/)
    }
    assert.match((await cli(['devbox', 'resize', '--help'])).out, /--size-class XS\|S/)
    assert.match((await cli(['hosts', 'register', '--help'])).out, /--private-key-file/)
    assert.not.match((await cli(['hosts', 'register', '--help'])).out, /--private-key /)
  })
})

spec('what is typed wrong', (t) => {
  const WRONG: [string, string[], RegExp][] = [
    ['a command that is none', ['depoly'], /Did you mean deploy\?/],
    ['a word of a group', ['hosts', 'aprove', 'x'], /hosts takes no "aprove"|There is/],
    ['a group alone', ['env'], /There is env get, env set/],
    ['a flag that is none', ['status', 'shop', '--jsno'], /has no flag --jsno\. Did you mean --json\?/],
    ['a flag without its value', ['status', '--app'], /argument missing|--help lists them/],
    ['a time that is none', ['status', 'shop', '--timeout', 'soon'], /90s, 15m or 1h/],
    ['no app', ['status'], /Which app\?/],
    ['an argument too many', ['status', 'shop', 'now'], /takes no "now"|Which app/],
    ['a release too many', ['rollback', '1', '2', '3', '--app', 'shop'], /takes no "2"/],
    ['env without a value', ['env', 'set', 'A', '--app', 'app-00000000000000000000000000000000'], /no NAME=value/],
    ['nothing to set', ['env', 'set', '--app', 'app-00000000000000000000000000000000'], /nothing to change/],
    ['a deletion that is not meant', ['delete', 'app-00000000000000000000000000000000'], /say --yes/],
    ['an argument that is missing', ['cancel'], /needs operationId/],
    ['a number that is none', ['create', 'shop', '--route-port', 'http'], /takes a number/],
    ['an address that is none', ['apps', '--url', 'bottega'], /no http or https address/],
    ['a password in the address', ['apps', '--url', 'http://a:b@127.0.0.1:9'], /holds a password/],
  ]
  for (const [what, args, said] of WRONG) {
    t(`is said, with exit code 2: ${what}`, async () => {
      const { code, out, err } = await cli(args, { env: { BOTTEGA_TOKEN: TOKEN } })
      assert.equal([code, out], [EXIT.usage, ''], err)
      assert.match(err, said)
    })
  }

  t('is not the version of a row for that of the client', async () => {
    const { out } = await cli(['--version'])
    assert.match(out, /^bottega \d+ sha256:[0-9a-f]{64}\n$/)
    const { code, err } = await cli(['devbox', 'start', '--version', '3'], { env: { BOTTEGA_TOKEN: TOKEN } })
    assert.equal([code, /Which devbox|needs/.test(err)], [EXIT.usage, true], err)
  })

  t('is one JSON document for scripts', async () => {
    const { code, json } = await cli(['depoly', '--json'])
    assert.equal([code, json.problem.code], [EXIT.usage, 'USAGE'])
  })

  t('is a token in the arguments, which is not repeated', async () => {
    for (const args of [
      ['apps', '--token', TOKEN],
      ['apps', `--token=${TOKEN}`],
      ['apps', '--token'],
      ['env', 'set', TOKEN],
    ]) {
      const { code, out, err } = await cli(args)
      assert.is(code, EXIT.usage)
      assert.match(err, /can be read by others/)
      assert.not.match(out + err, TOKEN)
    }
  })

  t('is a token that is missing, or no token at all', async () => {
    assert.match((await cli(['apps'])).err, /There is no token/)
    const { code, err } = await cli(['apps', '--token', '-'], { input: 'two words\n' })
    assert.equal([code, /is none/.test(err)], [EXIT.usage, true])
  })

  t('ends soon where nobody answers', async () => {
    const began = performance.now()
    const { code, err } = await cli(['apps', '--timeout', '2s'], { env: { BOTTEGA_TOKEN: TOKEN } })
    assert.is(code, EXIT.timedOut, err)
    assert.match(err, /does not answer/)
    assert.ok(performance.now() - began < 20_000)
  })
})

spec('words', (t) => {
  t('of times are read', () => {
    assert.equal(['90s', '15m', '1h', '5', '', '1d', '-1s'].map(durationMs), [
      90_000,
      900_000,
      3_600_000,
      null,
      null,
      null,
      null,
    ])
  })
  t('that came over the network move no cursor and hide nothing', () => {
    assert.is(visible('\u001b[31mred\u001b[0m'), 'red')
    assert.is(visible('a\u001b[2J\u001b]0;title\u0007b\r\n'), 'a\\u001b[2J\\u001b]0;title\\u0007b\n')
    assert.is(visible('a\u202eb\u009b1m\u200bc\td'), 'a\\u202eb\\u009b1m\\u200bc\td')
  })
})
