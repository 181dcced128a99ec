/** A repository of git, made by git and served by it over HTTP (git http-backend). */
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'

export type ServedRepository = {
  /** `http://127.0.0.1:<port>/shop.git` */
  url: string
  /** The commit that it then has. */
  commit(files: Record<string, string | { link: string } | { run: string | Buffer }>): string
  git(...args: string[]): string
  /** From now on answers become this. */
  spoil(change: ((answer: Buffer) => Buffer) | null): void
  end(): Promise<void>
}

const IDENTITY = {
  GIT_AUTHOR_NAME: 'T',
  GIT_AUTHOR_EMAIL: 't@t.test',
  GIT_COMMITTER_NAME: 'T',
  GIT_COMMITTER_EMAIL: 't@t.test',
}

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  return request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
}

/** One request as CGI has it (RFC 3875). */
const backend = async (root: string, request: IncomingMessage): Promise<Buffer> => {
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost')
  const body = await bodyOf(request)
  const child = spawn('git', ['http-backend'], {
    env: {
      ...process.env,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      CONTENT_LENGTH: String(body.length),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.stdin.on('error', () => {}) // what asks with GET ends without reading
  child.stdin.end(body)
  const chunks: Buffer[] = []
  for await (const chunk of child.stdout) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const answer = (response: ServerResponse, said: Buffer, change: ((answer: Buffer) => Buffer) | null): void => {
  const end = said.indexOf('\r\n\r\n')
  const heads = said
    .toString('latin1', 0, end)
    .split('\r\n')
    .map((line) => line.split(/: (.*)/s))
  const status = Number(heads.find(([name]) => name === 'Status')?.[1]?.slice(0, 3) ?? 200)
  for (const [name = '', value = ''] of heads) if (name !== 'Status') response.setHeader(name, value)
  const body = said.subarray(end + 4)
  response.writeHead(status).end(change ? change(body) : body)
}

/** @param login without which it shows nothing */
export const startRepository = async (
  login: { username: string; password: string } | null = null,
): Promise<ServedRepository> => {
  const root = mkdtempSync(join(tmpdir(), 'bottega-git-'))
  const work = join(root, 'work')
  mkdirSync(work)
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', work, ...args], {
      encoding: 'utf8',
      env: { ...process.env, ...IDENTITY },
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim()
  git('init', '-q', '-b', 'main')
  let spoilt: ((answer: Buffer) => Buffer) | null = null
  const wanted = login && `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`
  const server = createServer((request, response) => {
    // git is run without the loop, for so long that connections lapse
    response.shouldKeepAlive = false
    if (wanted !== null && request.headers.authorization !== wanted) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
      return
    }
    void backend(root, request).then((said) => answer(response, said, spoilt))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const publish = () => {
    rmSync(join(root, 'shop.git'), { recursive: true, force: true })
    execFileSync('git', ['clone', '-q', '--bare', work, join(root, 'shop.git')], { stdio: 'ignore' })
    execFileSync('git', ['-C', join(root, 'shop.git'), 'repack', '-adfq', '--depth=50'], { stdio: 'ignore' })
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/shop.git`,
    git: (...args) => {
      const said = git(...args)
      publish()
      return said
    },
    commit(files) {
      for (const [path, given] of Object.entries(files)) {
        const at = join(work, path)
        mkdirSync(dirname(at), { recursive: true })
        rmSync(at, { force: true })
        if (typeof given === 'string') writeFileSync(at, given)
        else if ('link' in given) symlinkSync(given.link, at)
        else {
          writeFileSync(at, given.run)
          chmodSync(at, 0o755)
        }
      }
      git('add', '-A')
      git('commit', '-q', '--allow-empty', '-m', 'next')
      publish()
      return git('rev-parse', 'HEAD')
    },
    spoil: (change) => {
      spoilt = change
    },
    end: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => {
          rmSync(root, { recursive: true, force: true })
          resolve()
        })
      }),
  }
}
