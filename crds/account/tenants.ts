/**
 * Accounts whose resources live in a namespace of their own, so that RBAC keeps apart who writes and who reads them
 * (hack/decisions/057). What is of an account that is bound nowhere lives with the platform's.
 */
import type { Kind } from '../kernel/kind.ts'

export type Tenant = { namespace: string; accounts: readonly string[] }
/** `home`: of Accounts, Hosts and of whatever is bound nowhere. */
export type Tenants = { home: string; bound: readonly Tenant[] }

const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const ACCOUNT = /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/

/** @returns whether the resources of a kind live with their account; of the others there is one namespace */
export const isTenanted = ({ writers, spec }: Pick<Kind, 'writers' | 'spec'>): boolean =>
  writers === 'edit' && 'account' in spec.properties

/**
 * @param text `shop-a=demo,other;shop-b=third`
 * @returns null where it is none: a namespace or an account twice, or a name that cannot be one
 */
export const tenantsIn = (text: string): Tenant[] | null => {
  const tenants = text
    .split(/[;\n]/)
    .map((one) => one.trim())
    .filter((one) => one !== '')
    .map((one): Tenant => {
      const [namespace = '', accounts = '', ...more] = one.split('=').map((part) => part.trim())
      return { namespace: more.length > 0 ? '' : namespace, accounts: accounts.split(',').map((name) => name.trim()) }
    })
  const accounts = tenants.flatMap((one) => one.accounts)
  const once = (names: readonly string[]) => new Set(names).size === names.length
  const isNamed =
    tenants.every(({ namespace }) => NAMESPACE.test(namespace)) && accounts.every((one) => ACCOUNT.test(one))
  return isNamed && once(accounts) && once(tenants.map(({ namespace }) => namespace)) ? tenants : null
}

/** Where what is of an account lives. */
export const namespaceOf = ({ home, bound }: Tenants, account: string | undefined): string =>
  bound.find(({ accounts }) => account !== undefined && accounts.includes(account))?.namespace ?? home

/** Home is the first: of two that have one name it keeps it. */
export const namespacesOf = ({ home, bound }: Tenants): string[] => [home, ...bound.map(({ namespace }) => namespace)]

/** The data of the ConfigMap that the admission policy reads: namespace to accounts, separated by commas. */
export const bindingsOf = (bound: readonly Tenant[]): Record<string, string> =>
  Object.fromEntries(bound.map(({ namespace, accounts }) => [namespace, accounts.join(',')]))

/** Why nobody works on a resource where it stands. Never a deletion. */
export type Stray = { code: 'ACCOUNT_ELSEWHERE' | 'NAME_TAKEN'; message: string }

/** It says nothing of where the account is at home: whoever reads it may be somebody else's editor. */
export const strayElsewhere = (account: string | undefined): Stray => ({
  code: 'ACCOUNT_ELSEWHERE',
  message: `resources of the account ${account ?? ''} have no place in this namespace; make it where the account is bound, and delete it here`,
})

export const strayTwin = (name: string): Stray => ({
  code: 'NAME_TAKEN',
  message: `the name ${name} is in use in another namespace; make it under another one, and delete it here`,
})

/** Resources of an account in a namespace that is not served any more. */
export type Unserved = { account: string; namespace: string; count: number }

export const unservedWords = ({ namespace, count }: Pick<Unserved, 'namespace' | 'count'>): string =>
  `${count} ${count === 1 ? 'resource is' : 'resources are'} in the namespace ${namespace}, which is not served: nothing of them was deleted, and nobody works on them; put it back on the list (tenantNamespaces)`
