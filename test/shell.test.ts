import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from '../controllers/io/hosts/inspect.ts'
import { makeJobs } from '../controllers/io/hosts/jobs.ts'
import { execute, type RemoteScript } from '../controllers/io/hosts/remote.ts'
import { makeSiteFiles } from '../controllers/io/hosts/sitefiles.ts'
import type { Connection } from '../controllers/io/hosts/ssh.ts'
import * as appScripts from '../controllers/kinds/app/scripts.ts'
import { GUARD } from '../controllers/kinds/host/guard.ts'
import { VISITS } from '../controllers/kinds/site/visits.ts'
import { attestScript } from '../crds/devinstance/bootstrap/attest.ts'
import { dockerScript } from '../crds/devinstance/bootstrap/docker.ts'
import { envScript, profileScript, tokenScript } from '../crds/devinstance/bootstrap/handed.ts'
import { idleScript } from '../crds/devinstance/bootstrap/idle.ts'
import {
  commandScript,
  installScript,
  launchScript,
  provisionScript,
  remoteScript,
} from '../crds/devinstance/bootstrap/provision.ts'
import { reporterScript } from '../crds/devinstance/bootstrap/reporter.ts'
import { ensureShellcheck, shellFaultsOf } from './support/judges/shellcheck.ts'
import { assert, spec } from './support/runner/spec.ts'

/** What shellcheck is not asked for, and why. */
const EXCLUDED: Record<string, string> = {
  SC1091: 'what was handed to a dev instance lies there alone',
  SC2034: 'a field is read to get at the fields after it',
  SC2086: 'lists of our own are split into words: names of images and projects, ids of containers',
  SC2154: 'lines of stdin are read into variables that a loop names',
  SC2174: 'the folder above is made with its mode by the fence',
  SC2229: 'lines of stdin are read into variables that a loop names',
  SC2317: 'a function that another part of the script calls is taken for unreachable',
}

const SUM = '0'.repeat(64)
const ANSWER = { stdout: Buffer.from(`${SUM}\n`), stderr: '', code: 0 }
const nothing = new AbortController().signal

/** The command of a connection that takes it and then breaks: a shell, told to run one quoted text. */
const commandOf = async (send: (connection: Connection) => Promise<unknown>): Promise<string> => {
  const sent: string[] = []
  const connection = {
    exec: async (command: string) => {
      sent.push(command)
      throw new Error('cut')
    },
    forward: () => Promise.reject(new Error('cut')),
    isOpen: () => false,
    end: () => {},
  } as unknown as Connection
  await send(connection).catch(() => undefined)
  return sent.join()
}

const unquoted = (text: string): string => text.replaceAll(`'\\''`, "'")

/** The text that the host's shell runs, with what stands before every script, and the arguments after it. */
const wordsOf = (command: string): string[] => {
  const found = /^exec timeout -s KILL \d+ \/bin\/sh -c ('[\s\S]*')$/.exec(command)?.[1]
  if (found === undefined) throw new Error(`no command of ours: ${command.slice(0, 100)}`)
  return [...found.matchAll(/'((?:[^']|'\\'')*)'/g)].map(([, word = '']) => unquoted(word))
}
const textOf = (command: string): string => wordsOf(command)[0] ?? ''

const sentOf = async (script: RemoteScript): Promise<string[]> => {
  const fence = { installation: 'x', epoch: 1 }
  const run = { script, fence, lines: [], maxOutputBytes: 1, limitMs: 1_000 }
  return wordsOf(await commandOf((connection) => execute(connection, run, nothing)))
}

/** Every script that sites and jobs send. */
const scriptsOfUse = async (): Promise<RemoteScript[]> => {
  const used: RemoteScript[] = []
  const run = async ({ script }: { script: RemoteScript }) => {
    used.push(script)
    return ANSWER
  }
  const files = makeSiteFiles({ run } as never, '/srv')
  const folder = { site: 's', digest: SUM, files: [{ path: 'index.html', sha256: SUM, bytes: 1 }] }
  await files.upload(folder, async () => Buffer.from('x'), nothing)
  await files.switchTo({ ...folder, keep: [] }, nothing)
  await files.look(folder, null, nothing)
  await files.remove('s', nothing)
  const jobs = makeJobs(async ({ script }) => {
    used.push(script)
    return Buffer.from('absent\n')
  })
  await jobs.startJob({ id: 'x', script: { name: 'x', text: 'true' }, limitMs: 1_000 })
  await jobs.jobState('x')
  await jobs.cancelJob('x')
  await jobs.dropJob('x')
  return used
}

const isScript = (value: unknown): value is RemoteScript =>
  typeof value === 'object' && value !== null && 'text' in value

const scriptsIn = (value: unknown): RemoteScript[] => {
  if (isScript(value)) return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).filter(isScript) : []
}

/** The scripts that lie in files, by path. */
const FILES = globSync('controllers/**/*.sh', { cwd: join(import.meta.dirname, '..') }).sort()
const fileText = (path: string): string => readFileSync(join(import.meta.dirname, '..', path), 'utf8')

/** By name: all that is sent to a host, or written to a dev instance. */
const collect = async (): Promise<Map<string, string>> => {
  const remote = [...Object.values(appScripts).flatMap(scriptsIn), GUARD, VISITS, ...(await scriptsOfUse())]
  const texts = new Map<string, string>()
  for (const script of remote) {
    const [text = '', ...runners] = await sentOf(script)
    texts.set(script.name, text)
    for (const [place, runner] of runners.entries()) texts.set(`what ${script.name} starts as ${place + 1}.`, runner)
  }
  const look = { admin: '127.0.0.1:2019', siteRoot: '/srv' }
  texts.set('inspect', textOf(await commandOf((connection) => inspect(async () => connection, look, nothing))))
  const archives = [{ path: 'a/-/a-1.tgz', sha512: SUM, folder: 'a' }]
  texts.set('install', installScript(archives))
  texts.set('launch', launchScript())
  texts.set('command', commandScript('codex', ['node/bin/node', 'a.js']))
  texts.set('make-remote', remoteScript({ url: "ssh://git@git.test/it's.git", branch: 'main' }))
  texts.set('make-remote without one', remoteScript(undefined))
  texts.set('provision', provisionScript())
  const agents = [{ id: 'codex', folder: 'agents/a' }]
  for (const [name, text] of Object.entries({
    report: reporterScript(agents),
    attest: attestScript(agents),
    idle: idleScript(),
    token: tokenScript(),
    env: envScript(),
    docker: dockerScript(),
    profile: profileScript(),
  })) {
    texts.set(name, text)
  }
  return texts
}

spec('the shell scripts', (t) => {
  t.before(ensureShellcheck, { timeoutMs: 300_000 })

  t('have no fault that shellcheck finds, each as it is sent', async () => {
    const texts = await collect()
    assert.ok(texts.size >= 31, [...texts.keys()].join(', '))
    const codes = Object.keys(EXCLUDED)
    const faults = [...texts].flatMap(([name, text]) => [
      ...(text === '' ? [`${name}: is empty`] : []),
      ...shellFaultsOf(text, codes).map((fault) => `${name}: ${fault}`),
    ])
    assert.equal(faults, [])
  })

  t('have no fault in their files either, and each file is sent, but for the comment at its head', async () => {
    const texts = [...(await collect()).values()]
    const codes = Object.keys(EXCLUDED)
    assert.ok(FILES.length >= 13, FILES.join(', '))
    for (const path of FILES) {
      const text = fileText(path)
      assert.equal(shellFaultsOf(text, codes), [], path)
      const sent = text.replace(/^(?:#.*\n)+/, '')
      assert.ok(sent !== '' && texts.some((one) => one.includes(sent)), `${path} is not sent`)
      assert.match(text, /^# /, `${path} does not say what it is`)
    }
  })

  t('need each of the exclusions', async () => {
    const found = [...(await collect()).values()].flatMap((text) => shellFaultsOf(text, []))
    const codes = new Set(found.flatMap((fault) => /SC\d+/.exec(fault) ?? []))
    assert.equal([...codes].sort(), Object.keys(EXCLUDED))
  })

  t('would show a fault', () => {
    assert.match(shellFaultsOf('rm -rf "$HOME/"$1\n[ $1 == 1 ]\n', []).join('\n'), /SC3014/)
  })
})
