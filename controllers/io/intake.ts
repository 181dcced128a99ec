/**
 * Pictures that a content names by address: fetched once, from a public address only, without following anything.
 * The name is resolved here and the connection goes to the address that was judged, so that it cannot lead elsewhere in between.
 */
import { lookup } from 'node:dns/promises'
import { request } from 'node:https'
import { bytesOfAddress } from '../../crds/address.ts'
import { type AddressRule, mayReach } from '../../crds/host/faults.ts'
import { IMAGE_BYTES_MAX } from './images.ts'

const LIMIT_MS = 20_000

export type Taken = { ok: true; bytes: Buffer } | { ok: false; reason: string }
export type Intake = (address: string, signal: AbortSignal) => Promise<Taken>

const refusal = (reason: string): Taken => ({ ok: false, reason })

const addressFor = async (hostname: string, rule: AddressRule): Promise<string | null> => {
  const literal = hostname.replace(/^\[|\]$/g, '')
  const found = bytesOfAddress(literal)
    ? [literal]
    : await lookup(hostname, { all: true }).then(
        (answers) => answers.map(({ address }) => address),
        () => [],
      )
  // All of them: a name that leads to a private address too is not to be trusted with the choice.
  return found.length > 0 && found.every((one) => mayReach(one, rule)) ? (found[0] ?? null) : null
}

const fetchFrom = (url: URL, address: string, signal: AbortSignal): Promise<Taken> =>
  new Promise((resolve) => {
    const isIp = bytesOfAddress(url.hostname.replace(/^\[|\]$/g, '')) !== null
    const options = {
      host: address,
      port: url.port === '' ? 443 : Number(url.port),
      path: `${url.pathname}${url.search}`,
      headers: { host: url.host, accept: 'image/avif,image/webp,image/png,image/jpeg', 'user-agent': 'Bottega' },
      ...(!isIp && { servername: url.hostname }),
      timeout: LIMIT_MS,
      signal,
      agent: false as const,
    }
    const call = request(options, (response) => {
      const end = (taken: Taken) => {
        response.destroy()
        resolve(taken)
      }
      if (response.statusCode !== 200) return end(refusal(`was answered with ${response.statusCode}`))
      const chunks: Buffer[] = []
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > IMAGE_BYTES_MAX) end(refusal(`is larger than ${IMAGE_BYTES_MAX} bytes`))
        else chunks.push(chunk)
      })
      response.on('end', () => resolve({ ok: true, bytes: Buffer.concat(chunks, bytes) }))
      response.on('error', () => end(refusal('broke off')))
    })
    call.on('timeout', () => call.destroy())
    call.on('error', () => resolve(refusal('could not be fetched')))
    call.end()
  })

/** @param deps.allowLoopback the development exception */
export const makeIntake =
  ({ allowLoopback }: { allowLoopback: boolean }): Intake =>
  async (text, signal) => {
    if (!URL.canParse(text)) return refusal('is no address')
    const url = new URL(text)
    if (url.protocol !== 'https:' || url.username !== '' || url.password !== '')
      return refusal('is no plain https address')
    const address = await addressFor(url.hostname, allowLoopback ? 'public-or-loopback' : 'public')
    if (address === null) return refusal('does not lead to a public address')
    return fetchFrom(url, address, AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]))
  }
