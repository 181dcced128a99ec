import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startMailCatcher } from '../commands/mailcatcher.ts'
import { buildImage, type Image } from '../container/image.ts'
import { ensureTools } from '../lib/tools.ts'
import { apiUrlOf, startPostgres } from '../platform/postgres.ts'
import { createHelm, type Helm } from './helm.ts'
import { type Node, type NodeOptions, startNode } from './node/node.ts'
import { stageDir } from './node/place.ts'

/**
 * What an installation of the chart needs: a node that has the image, and on the machine, where pods reach them, a
 * PostgreSQL and a mail catcher.
 */
export type ClusterStage = {
  node: Node
  helm: Helm
  image: Image
  /** The database as this machine reaches it. */
  databaseUrl: string
  /** The file of values to install with: the address clients use is `publicUrl`. */
  values: string
  secretKey: string
  publicUrl: string
  mailDir: string
  end(): Promise<void>
}

/** `publicUrl`: where clients are told that they reach it; a name of nobody's unless somebody has to. */
export type ClusterStageOptions = NodeOptions & { publicUrl?: string }

export async function startClusterStage(options: ClusterStageOptions): Promise<ClusterStage> {
  const { owner, progress, publicUrl = 'http://bottega.test' } = options
  const tools = await ensureTools(['helm'], { progress })
  const endings: (() => void | Promise<void>)[] = []
  const end = async () => {
    for (const one of endings.splice(0).reverse()) await one()
  }
  try {
    const node = await startNode(options)
    endings.push(() => node.stop())
    const folder = stageDir // the node is ours, and with it this folder
    mkdirSync(folder)
    chmodSync(folder, 0o755) // the user postgres must get in
    endings.push(() => rmSync(folder, { recursive: true, force: true }))
    const image = await buildImage({ file: join(folder, 'image', 'bottega.tar') })
    node.importImage(image.file)
    const reach = { address: node.address, from: node.podCidr }
    const postgres = await startPostgres({ dataDir: join(folder, 'pg'), owner, reach })
    endings.push(() => postgres.stop())
    const mailDir = join(folder, 'mail')
    const mail = await startMailCatcher({ dir: mailDir, port: 0, host: node.address })
    endings.push(() => mail.stop())
    const secretKey = randomBytes(32).toString('base64')
    const values = join(folder, 'values.json')
    const inPods = new URL(postgres.url)
    inPods.hostname = node.address
    const given = {
      publicUrl,
      proxies: 0,
      resourceNamespace: '',
      secret: {
        databaseUrl: inPods.href,
        apiDatabaseUrl: apiUrlOf(inPods.href),
        secretKey,
        smtpUrl: `smtp://${node.address}:${mail.port}`,
      },
      mail: { from: 'Bottega <billing@bottega.test>' },
      crds: { keep: false },
    }
    writeFileSync(values, JSON.stringify(given), { mode: 0o600 })
    const helm = createHelm({ path: tools.path('helm'), folder: join(folder, 'helm'), kubeconfig: node.kubeconfig })
    return { node, helm, image, databaseUrl: postgres.url, values, secretKey, publicUrl, mailDir, end }
  } catch (error) {
    await end()
    throw error
  }
}
