/** Mail servers for tests: a real one, and one that misbehaves by script. */
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

type Taken = { raw: string; from: string; to: string[]; email: Email }
export type Stop = () => Promise<void>

/** `hold`: a mail to these is kept, and answered only then. */
type Rules = SMTPServerOptions & { hold?: (to: readonly string[]) => Promise<void> | undefined }

/** A real SMTP server that keeps what it takes. `rules` may refuse at any step. */
export const startSink = async ({ hold, ...rules }: Rules = {}) => {
  const taken: Taken[] = []
  const sessions = new Set<string>()
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onMailFrom: (_address, session, done) => {
      sessions.add(session.id)
      done()
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        const raw = Buffer.concat(chunks).toString('utf8')
        const { mailFrom, rcptTo } = session.envelope
        const from = mailFrom === false ? '' : mailFrom.address
        const to = rcptTo.map(({ address }) => address)
        taken.push({ raw, from, to, email: await PostalMime.parse(raw) })
        await hold?.(to)
        done()
      })
    },
    ...rules,
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`
  const stop: Stop = () => new Promise((resolve) => server.close(resolve))
  return { url, taken, sessions, stop }
}

/** A server that speaks line by line as it is told, to hang or cut where no real one does. */
export const startScript = async (
  answer: (line: string, socket: Socket, body: boolean) => void,
  greeting = '220 hello\r\n',
) => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.write(greeting)
    let rest = ''
    let body = false
    socket.on('data', (chunk) => {
      const lines = (rest + chunk.toString()).split('\r\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        answer(line, socket, body)
        if (line === 'DATA') body = true
        if (line === '.') body = false
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop: Stop = () =>
    new Promise((resolve) => {
      for (const socket of sockets) socket.destroy()
      server.close(() => resolve())
    })
  return { url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`, stop }
}

/** Says yes to everything but the message itself. */
export const polite = (line: string, socket: Socket, body: boolean): void => {
  if (body) return
  socket.write(line === 'DATA' ? '354 go on\r\n' : '250 ok\r\n')
}
