import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { attempt } from '../../lib/command.ts'
import { writeWhole } from '../../lib/files.ts'
import { createService, type Service, tailOf, waitFor } from '../../lib/processes.ts'
import { CommandRefusal } from '../../lib/refusal.ts'
import type { BuiltTools } from '../../lib/tools.ts'
import { kubeconfigText } from '../../platform/pki.ts'
import { kcmFlags, kubeletFlags, kubeProxyFlags, schedulerFlags } from './configs.ts'
import { places } from './place.ts'

/** The processes of the node beside its control plane. */
export type NodeServices = {
  scheduler: Service
  kcm: Service
  containerd: Service
  kubelet: Service
  kubeProxy: Service
  coredns: Service
}

const containerdReadyMs = 120_000

export const ctr = (...args: string[]): readonly string[] => ['-a', places.containerdSocket, '-n', 'k8s.io', ...args]

type Part = { name: string; command: string; args: readonly string[]; ready?: (signal: AbortSignal) => Promise<void> }

export function makeServices(tools: BuiltTools, owner: string): NodeServices {
  const service = ({ name, command, args, ready = async () => {} }: Part): Service => {
    const logFile = join(places.logs, `${name}.log`)
    return createService({
      name,
      logFile,
      ready,
      launch: () => ({ name, command, args, owner, logFile, cwd: '/' }),
    })
  }
  /** A program of Kubernetes that logs in as `identity`. */
  const component = (name: string, identity: string, flags: Readonly<Record<string, string>>): Service => {
    const all = { kubeconfig: places.kubeconfig(identity), ...flags }
    const args = Object.entries(all).map(([flag, value]) => `--${flag}=${value}`)
    return service({ name, command: tools.path(name), args })
  }
  return {
    scheduler: component('kube-scheduler', 'scheduler', schedulerFlags),
    kcm: component('kube-controller-manager', 'kcm', kcmFlags),
    kubelet: component('kubelet', 'kubelet', kubeletFlags),
    kubeProxy: component('kube-proxy', 'kube-proxy', kubeProxyFlags),
    coredns: service({ name: 'coredns', command: tools.path('coredns'), args: ['-conf', places.corefile] }),
    containerd: service({
      name: 'containerd',
      command: 'containerd',
      args: ['-c', places.containerdConfig],
      ready: (signal) =>
        waitFor('containerd', async () => attempt('ctr', ctr('images', 'list', '-q')).ok, {
          timeoutMs: containerdReadyMs,
          signal,
        }),
    }),
  }
}

/** Writes the kubeconfig of one identity of the node. */
export function writeKubeconfig(identity: string, server: string): void {
  const base64 = (name: string) => readFileSync(join(places.pki, name)).toString('base64')
  const user = {
    'client-certificate-data': base64(`${identity}.crt`),
    'client-key-data': base64(`${identity}.key`),
  }
  writeWhole(places.kubeconfig(identity), kubeconfigText({ server, ca: base64('ca.crt'), user, namespace: 'default' }))
}

/** Waits for something that `service` is to do; when it ends meanwhile, says so with the tail of its log. */
export async function waitOn(service: Service, what: string, check: () => Promise<boolean>, timeoutMs: number) {
  const alive = async () => {
    if (service.pid() === null) {
      throw new CommandRefusal(`${service.name} ended; its log is ${service.logFile}.`, {
        detail: tailOf(service.logFile),
      })
    }
    return await check()
  }
  await waitFor(what, alive, { timeoutMs, everyMs: 100 })
}
