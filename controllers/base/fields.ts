/** How one variable of the environment is read: its name, what is expected, and what is accepted (env.ts). */
import { type Tenant, tenantsIn } from '../../crds/account/tenants.ts'
import { EMAIL_MAX, EMAIL_PATTERN } from '../../crds/kernel/schema.ts'
import { bytesOfAddress } from '../../crds/values/address.ts'
import { parseRingKeys, RING_KEY_BYTES, RING_KEYS_MAX } from './keyring.ts'

/** Reads one variable. `parse` returns undefined for what it does not accept. */
export type Field<T> = {
  name: string
  expected: string
  parse: (text: string) => T | undefined
  fallback?: () => T
  /** `<name>_FILE` may name a file that holds it. */
  mayBeFile?: boolean
  /** Any other value than this is for development alone. */
  inProduction?: T
}

/** May be left out: then the value is `to`. */
export const withDefault = <T, D>(field: Field<T>, to: D): Field<T | D> => ({ ...field, fallback: () => to })

/** May be left out, and may be anything but `to` under `hack/up` only (readProcessEnv). */
export const inDevelopment = <T>(field: Field<T>, to: NoInfer<T>): Field<T> => ({
  ...field,
  fallback: () => to,
  inProduction: to,
})

export const text = (name: string, expected = 'a text'): Field<string> => ({ name, expected, parse: (value) => value })

export const integer = (name: string, { min, max }: { min: number; max: number }): Field<number> => ({
  name,
  expected: `a whole number from ${min} to ${max}`,
  parse: (value) =>
    /^-?\d{1,15}$/.test(value) && Number(value) >= min && Number(value) <= max ? Number(value) : undefined,
})

export const oneOf = <const T extends string>(name: string, words: readonly T[]): Field<T> => ({
  name,
  expected: `one of ${words.join(', ')}`,
  parse: (value) => words.find((word) => word === value),
})

/** A URL of one of these schemes, as given but without a slash at its end. */
export const url = (name: string, schemes: readonly string[]): Field<string> => ({
  name,
  expected: `a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
  parse: (value) => {
    const parsed = URL.canParse(value) ? new URL(value) : undefined
    return parsed && schemes.includes(parsed.protocol.slice(0, -1)) ? value.replace(/\/$/, '') : undefined
  },
})

export type Listen = { host: string; port: number }

/** `0.0.0.0:8080`, `[::]:8080`, `:8080`; port 0 takes any. */
export const listen = (name: string): Field<Listen> => ({
  name,
  expected: 'host:port, as 0.0.0.0:8080',
  parse: (value) => {
    const found = /^(?:\[([0-9a-fA-F:]+)\]|([^:\s[\]]*)):(\d{1,5})$/.exec(value)
    const port = Number(found?.[3])
    return found && port <= 65_535 ? { host: (found[1] ?? found[2]) || '::', port } : undefined
  },
})

const SERVERS_MAX = 5

/** `192.0.2.1`, `192.0.2.1:5353`, `2001:db8::1` or `[2001:db8::1]:5353`, separated by commas. */
export const addressList = (name: string): Field<string[]> => ({
  name,
  expected: `up to ${SERVERS_MAX} addresses, each with or without a port, separated by commas`,
  parse: (value) => {
    const given = value.split(',').map((one) => one.trim())
    const isAddress = (one: string): boolean => {
      const [, bracketed, , plain, port] = /^(?:\[([^\]]+)\](:\d{1,5})?|([^:]+)(?::(\d{1,5}))?)$/.exec(one) ?? []
      const address = bracketed ?? plain ?? one
      return bytesOfAddress(address) !== null && Number(port ?? 0) <= 65_535
    }
    return given.length <= SERVERS_MAX && given.every(isAddress) ? given : undefined
  },
})

/** One key or several, each once: separated by commas or lines, the newest first. */
export const keyList = (name: string): Field<Buffer[]> => ({
  name,
  mayBeFile: true,
  expected: `${RING_KEY_BYTES} random bytes in base64, as from: openssl rand -base64 ${RING_KEY_BYTES}; or up to ${RING_KEYS_MAX} such keys, the newest first, separated by commas or lines`,
  parse: parseRingKeys,
})

/** The name of a header, in lower case. */
export const headerName = (name: string): Field<string> => ({
  name,
  expected: 'the name of a header, as CF-Connecting-IP',
  parse: (value) => (/^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(value) ? value.toLowerCase() : undefined),
})

const EMAIL = /^[^\s<>@]+@[^\s<>@]+$/

/** `billing@shop.test` or `Shop <billing@shop.test>`. */
export const mailbox = (name: string): Field<string> => ({
  name,
  expected: 'a mail address, as billing@shop.test or Shop <billing@shop.test>',
  parse: (value) => {
    const address = /^[^<>\r\n]*<([^<>]+)>$/.exec(value)?.[1] ?? value
    return EMAIL.test(address) ? value : undefined
  },
})

/** An address without a name, as an Account takes it. */
export const email = (name: string): Field<string> => ({
  name,
  expected: 'a mail address, as admin@shop.test',
  parse: (value) => (value.length <= EMAIL_MAX && new RegExp(EMAIL_PATTERN, 'u').test(value) ? value : undefined),
})

/** `shop-a=demo,other;shop-b=third`: namespaces, and the accounts that are bound to each. */
export const tenantList = (name: string): Field<readonly Tenant[]> => ({
  name,
  expected: 'namespaces with their accounts, each once, as shop-a=demo,other;shop-b=third',
  parse: (value) => tenantsIn(value) ?? undefined,
})
