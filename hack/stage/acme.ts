import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { writeWhole } from '../lib/files.ts'
import { freePort, isListening } from '../lib/ports.ts'
import { createService, type Service, waitFor } from '../lib/processes.ts'
import { CommandRefusal } from '../lib/refusal.ts'
import { makeDns, type SettableDns } from './dns.ts'

/** Pebble, the ACME test CA, with its DNS that says 127.0.0.1 to everything. It validates on the ports it is given. */
export type Acme = {
  directory: string
  /** PEM of what the directory's own certificate is trusted by. */
  rootsFile: string
  /** PEM of what the issued certificates are trusted by; another one after each start. */
  caCert: string
  dns: SettableDns
  /** In the order of starting. */
  services: Service[]
}

export type AcmeOptions = {
  folder: string
  owner: string
  logDir: string
  tool(name: string): string
  /** Where the challenges are answered. */
  httpPort: number
  httpsPort: number
  /** The port of the directory to try first, so that an address that was written down stays good. */
  port?: number
}

const readyMs = 60_000
const validitySeconds = 86_400 * 5

function makeCertificate(folder: string): void {
  if (existsSync(join(folder, 'dir.pem'))) return
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '3650']
  const names = [
    '-keyout',
    'dir.key',
    '-out',
    'dir.pem',
    '-subj',
    '/CN=pebble',
    '-addext',
    'subjectAltName=IP:127.0.0.1',
  ]
  const { status, stderr } = spawnSync('openssl', [...args, ...names], { cwd: folder, encoding: 'utf8' })
  if (status !== 0)
    throw new CommandRefusal('openssl could not make the certificate of the ACME directory (see above).', {
      detail: stderr,
    })
}

/** What is served under its own certificate. */
function get(url: string, ca: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    request(url, { ca, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve(Buffer.concat(chunks).toString()))
    })
      .on('error', reject)
      .end()
  })
}

export async function startAcme(options: AcmeOptions): Promise<Acme> {
  const { folder, owner, logDir, tool, httpPort, httpsPort } = options
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  makeCertificate(folder)
  const { service: dnsService, ...dns } = await makeDns({ owner, logDir, tool })
  const [directory, management] = [await freePort(options.port), await freePort()]
  const config = {
    pebble: {
      listenAddress: `127.0.0.1:${directory}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate: join(folder, 'dir.pem'),
      privateKey: join(folder, 'dir.key'),
      httpPort,
      tlsPort: httpsPort,
      ocspResponderURL: '',
      externalAccountBindingRequired: false,
      retryAfter: { authz: 1, order: 1 },
      profiles: { default: { description: 'for tests', validityPeriod: validitySeconds } },
    },
  }
  writeWhole(join(folder, 'pebble.json'), JSON.stringify(config))
  const service = (name: string, args: string[], isReady: () => Promise<boolean>): Service => {
    const logFile = join(logDir, `${name}.log`)
    const env = { PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '0' }
    return createService({
      name,
      logFile,
      launch: () => ({ name, owner, logFile, env, command: tool(name), args }),
      ready: (signal) => waitFor(`${name} (its log is ${logFile})`, isReady, { timeoutMs: readyMs, signal }),
    })
  }
  const caCert = join(folder, 'ca.pem')
  const ca = readFileSync(join(folder, 'dir.pem'))
  /** Its root is drawn at each start. */
  const keepRoot = async () => {
    if (!(await isListening(management))) return false
    writeWhole(caCert, await get(`https://127.0.0.1:${management}/roots/0`, ca), 0o644)
    return true
  }
  const services = [
    dnsService,
    service('pebble', ['-strict', '-config', join(folder, 'pebble.json'), '-dnsserver', dns.server], keepRoot),
  ]
  for (const one of services) await one.start()
  return {
    directory: `https://127.0.0.1:${directory}/dir`,
    rootsFile: join(folder, 'dir.pem'),
    caCert,
    dns,
    services,
  }
}
