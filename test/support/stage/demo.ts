import { kubectlFor, makeNamespace, type Namespace } from './stage.ts'

/** A namespace of its own with the account `demo` (owner@demo.test), whose spec says `more` besides. */
export const makeDemoNamespace = async (more: Record<string, unknown> = {}): Promise<Namespace> => {
  const namespace = await makeNamespace()
  await kubectlFor(namespace.kubeconfig)(['apply', '-f', '-'], {
    apiVersion: 'bottega.dev/v1alpha1',
    kind: 'Account',
    metadata: { name: 'demo', namespace: namespace.name },
    spec: { email: 'owner@demo.test', name: 'Demo', plan: 'team', ...more },
  })
  return namespace
}
