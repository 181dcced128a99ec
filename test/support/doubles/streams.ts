import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { Agent, buildConnector, WebSocket } from 'undici'
import { busybox, type Project } from '../stage/apps.ts'
import type { AppHost } from '../stage/host.ts'

/**
 * What takes long at an app: a WebSocket, server-sent events and a slow upload, with an app that serves them. Each
 * tells whether it was cut.
 */

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** One request on stdin and stdout: nc gives each connection a process of its own. */
const HANDLER = `#!/tmp/bin/sh
cr=$(printf '\\r')
IFS=' ' read -r method path version
while IFS= read -r line; do
  line=\${line%"$cr"}
  [ -n "$line" ] || break
  lines="$lines$line
"
  case "$line" in
    [Cc]ontent-[Ll]ength:*) length=\${line#*: };;
    [Ss]ec-[Ww]eb[Ss]ocket-[Kk]ey:*) key=\${line#*: };;
  esac
done
ok() { printf 'HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Type: %s\\r\\n\\r\\n' "$1"; }
case "$path" in
  /ws)
    accept=$(printf '%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11' "$key" | sha1sum | cut -c1-40 | xxd -r -p | base64)
    printf 'HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n'
    printf 'Sec-WebSocket-Accept: %s\\r\\n\\r\\n' "$accept"
    while printf '\\201\\004tick' && sleep 1; do :; done;;
  /events)
    ok text/event-stream
    while printf 'data: tick\\n\\n' && sleep 1; do :; done;;
  /headers)
    ok text/plain
    printf '%s' "$lines";;
  /upload)
    received=$(head -c "$length" | wc -c)
    ok text/plain
    printf '%s %s\\n' "$VERSION" "$received";;
  *)
    ok text/plain
    printf '%s %s\\n' "$VERSION" "$GREETING";;
esac
`

/** Ends at once when it is told to end, as a server without a thought for its clients does. */
export const streaming = (version: string): Project => ({
  compose: `services:
  web:
    build: .
    command: ["/bin/busybox", "sh", "-c", "/bin/busybox mkdir -p /tmp/bin && /bin/busybox --install -s /tmp/bin && exec /bin/busybox nc -ll -p 8080 -e /handler"]
    environment: {VERSION: ${JSON.stringify(version)}, PATH: /tmp/bin}
    expose: ["8080"]
    stop_grace_period: 1s
`,
  files: {
    Dockerfile: base64('FROM scratch\nCOPY busybox /bin/busybox\nCOPY --chmod=755 handler /handler\nWORKDIR /tmp\n'),
    busybox: busybox(),
    handler: base64(HANDLER),
  },
})

/** `cut`: how it ended before it was told to; null while it has not. */
export type Stream = {
  what: string
  cut(): string | null
  /** Ends it in the way that is meant. @throws when it was cut before, or has not come through whole */
  finish(): Promise<string>
}

/** Bytes of an upload, all but one a second at its end. */
const UPLOAD_BYTES = 4_000
const BEAT_MS = 1_000

const nameOf = (host: AppHost, slug: string) => `${slug}.${host.baseDomain}`

/** Keeps who first says how it ended. */
const makeEnd = (what: string) => {
  let cut: string | null = null
  let isMeant = false
  return {
    cut: () => cut,
    mean: () => {
      if (cut !== null) throw new Error(`the ${what} was cut: ${cut}`)
      isMeant = true
    },
    come: (how: string) => {
      if (!isMeant) cut ??= how
    },
  }
}

/** @returns when its first message is there */
export const openWebSocket = async (
  host: AppHost,
  slug: string,
  headers: Record<string, string> = {},
): Promise<Stream> => {
  const what = 'WebSocket'
  const end = makeEnd(what)
  const connector = buildConnector({
    allowH2: false,
    ca: readFileSync(host.acme.caCert, 'utf8'),
    lookup: (_name: string, _options: object, found: (error: null, addresses: object[]) => void) =>
      found(null, [{ address: '127.0.0.1', family: 4 }]),
  } as object)
  let held: { destroy(): unknown } | null = null
  const connect: ReturnType<typeof buildConnector> = (options, callback) =>
    connector(options, (...made) => {
      held = made[1]
      callback(...made)
    })
  const dispatcher = new Agent({ connect })
  const socket = new WebSocket(`wss://${nameOf(host, slug)}:${host.httpsPort}/ws`, { dispatcher, headers })
  const beat = setInterval(() => socket.readyState === WebSocket.OPEN && socket.send('tock'), BEAT_MS)
  socket.addEventListener('close', ({ code }) => {
    clearInterval(beat)
    end.come(`closed with ${code}`)
    void dispatcher.destroy()
  })
  let why = ''
  socket.addEventListener('error', ({ message, error }) => {
    why = `${message} ${error?.cause ?? error ?? ''}`
    end.come(`an error: ${why}`)
  })
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('message', () => resolve(), { once: true })
    socket.addEventListener('close', ({ code }) => reject(new Error(`the WebSocket was refused: ${code} ${why}`)))
  })
  const finish = async () => {
    end.mean()
    // The app never answers that it closes, as a server without a thought does not.
    socket.close(1000)
    held?.destroy()
    return 'closed'
  }
  return { what, cut: end.cut, finish }
}

const asked = (host: AppHost, slug: string, more: { method: string; path: string; headers?: object }) =>
  request({
    ...more,
    host: '127.0.0.1',
    port: host.httpsPort,
    servername: nameOf(host, slug),
    ca: readFileSync(host.acme.caCert),
    headers: { host: `${nameOf(host, slug)}:${host.httpsPort}`, ...more.headers },
    agent: false,
  })

/** @returns when the first event is there */
export const openEvents = (host: AppHost, slug: string, headers: Record<string, string> = {}): Promise<Stream> => {
  const what = 'event stream'
  const end = makeEnd(what)
  const sent = asked(host, slug, { method: 'GET', path: '/events', headers })
  return new Promise((resolve, reject) => {
    const finish = async () => {
      end.mean()
      sent.destroy()
      return 'closed'
    }
    sent.on('error', (error) => {
      end.come(error.message)
      reject(error)
    })
    sent.on('response', (response) => {
      response.once('data', () => resolve({ what, cut: end.cut, finish }))
      response.on('error', (error) => end.come(error.message))
      response.on('close', () => end.come('the answer ended'))
    })
    sent.end()
  })
}

/** A byte a second until it is finished. `finish` gives the app's answer: its version, and how much it received. */
export const openUpload = (host: AppHost, slug: string): Stream => {
  const what = 'upload'
  const end = makeEnd(what)
  const headers = { 'content-length': String(UPLOAD_BYTES) }
  const sent = asked(host, slug, { method: 'POST', path: '/upload', headers })
  let left = UPLOAD_BYTES
  const beat = setInterval(() => {
    sent.write('.')
    left -= 1
  }, BEAT_MS)
  const answer = new Promise<string>((resolve, reject) => {
    sent.on('error', (error) => {
      clearInterval(beat)
      end.come(error.message)
      reject(error)
    })
    sent.on('response', (response) => {
      clearInterval(beat)
      end.come(`answered with ${response.statusCode}`)
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => resolve(Buffer.concat(chunks).toString().trim()))
    })
  })
  answer.catch(() => {})
  sent.flushHeaders()
  const finish = async () => {
    end.mean()
    clearInterval(beat)
    sent.end('.'.repeat(left))
    return answer
  }
  return { what, cut: end.cut, finish }
}

export const received = (version: string): string => `${version} ${UPLOAD_BYTES}`
