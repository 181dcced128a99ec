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

/** The same for WebSockets that are counted apart. */
export const streamFile = (slot: string): string => `${slot}.ws`
