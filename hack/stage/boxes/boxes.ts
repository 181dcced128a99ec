import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Service } from '../../lib/processes.ts'
import type { Progress } from '../../lib/progress.ts'
import { type Docker, endDockerLeftovers, startDocker } from '../docker.ts'
import { makeKey, publicOf } from '../hoststage.ts'
import { importBoxImage } from './image.ts'
import { openLoopback } from './loopback.ts'

/** A place where dev instances are containers: a Docker of its own, their image, and the key that opens them. */
export type BoxStage = {
  docker: Docker
  services: Service[]
  identityFile: string
  /** What the provisioner is to be told; of whom, and by which token, is for its caller to say. */
  env: Record<string, string>
}

/** `folder`: short, for sockets lie in it; what machines hold stays there. `apiPort`: where the platform listens on loopback, now or later. */
export type BoxStageOptions = { folder: string; owner: string; logFile: string; apiPort: number; progress: Progress }

const dockerIn = (folder: string): string => join(folder, 'docker')
const loopbackIn = (folder: string): string => join(folder, 'loopback')

export async function startBoxes({ folder, owner, logFile, apiPort, progress }: BoxStageOptions): Promise<BoxStage> {
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  const identityFile = join(folder, 'key')
  makeKey(identityFile)
  await openLoopback(loopbackIn(folder), apiPort)
  const options = { folder: dockerIn(folder), owner, logFile, gid: 0, masquerade: true, sameUsers: true }
  const docker = await startDocker(options)
  const image = await importBoxImage(docker.socket, progress).catch(async (error) => {
    await docker.remove()
    throw error
  })
  const env = {
    BOTTEGA_CLOUD: 'docker',
    BOTTEGA_INSTALLATION: owner,
    BOTTEGA_DOCKER_SOCKET: docker.socket,
    BOTTEGA_DOCKER_IMAGE: image,
    BOTTEGA_DOCKER_AUTHORIZED_KEY: publicOf(identityFile),
    BOTTEGA_DOCKER_ADDRESSES: `${docker.network}.64.0/24`,
    BOTTEGA_DOCKER_LOOPBACK: loopbackIn(folder),
    // of demonstrations and tests: nobody's work is on it
    BOTTEGA_DOCKER_ENCRYPTED: 'yes',
    BOTTEGA_SSH_IDENTITY: identityFile,
  }
  return { docker, services: [docker.service], identityFile, env }
}

/** After its Docker has ended, however: mounts and networks go; with `purge` the machines and their disks as well. */
export async function removeBoxes(folder: string, { purge }: { purge: boolean }): Promise<void> {
  await endDockerLeftovers(dockerIn(folder))
  if (purge) rmSync(folder, { recursive: true, force: true })
}
