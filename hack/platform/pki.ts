import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandRefusal } from '../lib/refusal.ts'

const days = '3650'
const serviceFirstIp = '10.96.0.1'

/** A certificate of the control plane's authority, good for clients and servers. */
export type Certificate = {
  /** Of its files. */
  name: string
  /** `/O=system:nodes/CN=system:node:one`: the group and the user that it logs in as. */
  subject: string
  /** `DNS:one`, `IP:10.0.0.1`: the names that it serves under. */
  servesAs?: readonly string[]
}

export type KeyOptions = {
  /** Where the API server listens, beside loopback. */
  address?: string
  /** Beside those of the API server and of its admin. */
  certificates?: readonly Certificate[]
}

/** The keys and certificates of one control plane, all in one 0700 folder. EC P-256: milliseconds where RSA takes seconds. */
export function ensureKeys(folder: string, { address, certificates = [] }: KeyOptions = {}): void {
  if (existsSync(join(folder, 'complete'))) return
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const key = (name: string) =>
    openssl(folder, ['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', `${name}.key`])
  const certificate = ({ name, subject, servesAs = [] }: Certificate) => {
    key(name)
    openssl(folder, ['req', '-new', '-key', `${name}.key`, '-subj', subject, '-out', `${name}.csr`])
    writeFileSync(
      join(folder, `${name}.ext`),
      `extendedKeyUsage=clientAuth,serverAuth\n${servesAs.length > 0 ? `subjectAltName=${servesAs.join(',')}\n` : ''}`,
    )
    const signing = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', days]
    openssl(folder, [
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      ...signing,
      '-extfile',
      `${name}.ext`,
      '-out',
      `${name}.crt`,
    ])
  }
  key('ca')
  openssl(folder, ['req', '-x509', '-new', '-key', 'ca.key', '-days', days, '-subj', '/CN=local-ca', '-out', 'ca.crt'])
  key('sa') // signs service account tokens; may be EC too
  const kubernetesNames = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
  ]
  const names = ['localhost', ...kubernetesNames].map((name) => `DNS:${name}`)
  const addresses = ['127.0.0.1', serviceFirstIp, ...(address === undefined ? [] : [address])].map((ip) => `IP:${ip}`)
  certificate({ name: 'apiserver', subject: '/CN=kube-apiserver', servesAs: [...names, ...addresses] })
  certificate({ name: 'admin', subject: '/O=system:masters/CN=admin' })
  for (const one of certificates) certificate(one)
  writeFileSync(join(folder, 'complete'), '') // last: a half-made folder is made again
}

function openssl(cwd: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync('openssl', args, { cwd, encoding: 'utf8' })
  if (error) throw new CommandRefusal('openssl is needed to make the keys of the control plane and is not installed.')
  if (status !== 0) throw new CommandRefusal(`openssl ${args[0]} failed (see above).`, { detail: stderr.trim() })
}

export type PkiCredentials = { ca: Buffer; cert: Buffer; key: Buffer }

/** The admin's client certificate and the authority to check the server with. */
export function adminCredentials(folder: string): PkiCredentials {
  const read = (name: string) => readFileSync(join(folder, name))
  return { ca: read('ca.crt'), cert: read('admin.crt'), key: read('admin.key') }
}

/** A kubeconfig with everything inside, so that it can be copied anywhere. JSON is YAML. */
export function kubeconfigText(options: {
  server: string
  ca: string
  user: Record<string, string>
  namespace: string
}): string {
  const { server, ca, user, namespace } = options
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'bottega', cluster: { server, 'certificate-authority-data': ca } }],
    users: [{ name: 'bottega', user }],
    contexts: [{ name: 'bottega', context: { cluster: 'bottega', user: 'bottega', namespace } }],
    'current-context': 'bottega',
  }
  return `${JSON.stringify(config, null, 2)}\n`
}
