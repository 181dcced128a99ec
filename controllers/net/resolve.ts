/**
 * A name's addresses as the system knows them, without getaddrinfo: that one blocks one of the four threads which files and
 * keys wait for too, and a slow server of one owner's names would hold up everybody else.
 */
import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { bytesOfAddress } from '../../crds/values/address.ts'

const TRY_MS = 1_500
const TRIES = 2
const HOSTS_FILE = '/etc/hosts'

/** @param hosts the text of a hosts file  @returns what it says of a name, in its order */
export const addressesIn = (hosts: string, hostname: string): string[] =>
  hosts.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    const isOfName = names.some((name) => name.toLowerCase() === hostname.toLowerCase())
    return isOfName && bytesOfAddress(address) !== null ? [address] : []
  })

/** @returns gives all addresses of a name, IPv4 first, from the hosts file or else by DNS; rejects when there is none */
export const makeResolve = (): ((hostname: string) => Promise<string[]>) => {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES })
  return async (hostname) => {
    const named = addressesIn(await readFile(HOSTS_FILE, 'utf8').catch(() => ''), hostname)
    if (named.length > 0) return named
    // No list of search domains stands behind these: a name of the user's is whole.
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason
    return [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  }
}
