import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setImmediate as turn } from 'node:timers/promises'
import { freePort, isListening } from '../hack/lib/ports.ts'
import { assert, spec } from './support/runner/spec.ts'

/** Looks of the other command that are to fall between starts of ours: some do in the moment that matters, on any machine. */
const LOOKS = 2_000
/** Of two that draw so many from 12,000 without asking each other, some are the same. */
const DRAWN = 400

const LIBRARY = join(import.meta.dirname, '..', 'hack', 'lib', 'ports.ts')

/** Another command of the same machine, with the functions of ports at hand; its lines come as they are written. */
const otherCommand = (code: string): { process: ChildProcess; lines: AsyncIterator<string> } => {
  const text = `import { freePort, isListening } from ${JSON.stringify(LIBRARY)}\n${code}`
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', text], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  return { process: child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() }
}

/** Whether the port could be listened on. */
const canStart = async (port: number): Promise<boolean> => {
  const server = createServer()
  const begun = once(server, 'listening')
  server.listen(port, '127.0.0.1')
  const isOurs = await begun.then(
    () => true,
    () => false,
  )
  await new Promise((resolve) => server.close(resolve))
  return isOurs
}

spec('ports', (t) => {
  const others: ChildProcess[] = []
  t.after.each(async () => {
    for (const child of others.splice(0)) {
      const ended = once(child, 'exit')
      if (child.exitCode === null && child.kill('SIGKILL')) await ended
    }
  })

  /** How many of our own starts on `port` failed, while another command did nothing but what `look` says. */
  const refusedBeside = async (port: number, look: string): Promise<number> => {
    const other = otherCommand(
      `console.log('begun'); for (let n = 0; n < ${LOOKS}; n += 1) { ${look} }; process.exit()`,
    )
    others.push(other.process)
    assert.is((await other.lines.next()).value, 'begun')
    let refused = 0
    for (; other.process.exitCode === null; await turn()) if (!(await canStart(port))) refused += 1
    assert.is(other.process.exitCode, 0)
    return refused
  }

  t('of two commands that start at one moment are never the same', async () => {
    const code = `process.stdin.once('data', async () => {
      for (let n = 0; n < ${DRAWN}; n += 1) console.log(await freePort())
    }); console.log('ready'); await new Promise(() => {})`
    const both = [otherCommand(code), otherCommand(code)]
    others.push(...both.map(({ process }) => process))
    for (const { lines } of both) assert.is((await lines.next()).value, 'ready')
    for (const { process } of both) process.stdin?.write('go\n')
    const drawn = async ({ lines }: (typeof both)[number]) => {
      const ports: string[] = []
      while (ports.length < DRAWN) ports.push((await lines.next()).value)
      return ports
    }
    const ports = (await Promise.all(both.map(drawn))).flat()
    assert.is(new Set(ports).size, 2 * DRAWN)
  })

  t('that were drawn are not taken by the looks of another command that draws', async () => {
    const port = await freePort()
    assert.is(await refusedBeside(port, `await freePort(${port})`), 0)
  })

  t('are not taken by whoever asks whether somebody listens already', async () => {
    const port = await freePort()
    assert.is(await refusedBeside(port, `await isListening(${port})`), 0)
    assert.not.ok(await isListening(port))
    const server = createServer().listen(port, '127.0.0.1')
    await once(server, 'listening')
    assert.ok(await isListening(port))
    server.close()
  })
})
