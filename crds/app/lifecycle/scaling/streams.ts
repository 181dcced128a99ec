/**
 * WebSockets that are to be cut are dialled at the same address written otherwise: the proxy counts what is under way by the text of
 * an address, and nobody has to wait for them where requests are waited for (hack/decisions/094).
 */

/** `127.0.0.1:3000` → `[::ffff:127.0.0.1]:3000`, which is the same (RFC 4291, 2.5.5.2). */
export const streamAddressOf = (address: string): string => {
  const place = address.lastIndexOf(':')
  return `[::ffff:${address.slice(0, place)}]${address.slice(place)}`
}

/** Where the proxy reads of a replica where it dials: each has a file of its own. @param place from 1 */
export const slotFile = (dialFile: string, place: number): string => (place === 1 ? dialFile : `${dialFile}.${place}`)

/** What the proxy calls the address that WebSockets of a replica are dialled at, and the handler by which it makes that of the file, at each try. */
export const streamName = (place: number): string => `{bottega.stream.${place}}`
export const streamNaming = (slot: string, place: number): object => ({
  handler: 'map',
  source: `{file.${slot}}`,
  destinations: [streamName(place)],
  mappings: [{ input_regexp: '^(.+):(\\d+)$', outputs: ['[::ffff:$1]:$2'] }],
})
