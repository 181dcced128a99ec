import type { AddressInfo } from 'node:net'
import { createServer, connect as dial, type Socket } from 'node:net'

/**
 * A slow line before a server on loopback: what is sent is handed on packet by packet, as fast as the line is, after its delay. All
 * connections share it, and each begins after the round trips of a name's lookup and of TCP.
 */

export type LineSpeed = { roundTripMs: number; downBytesPerSecond: number; upBytesPerSecond: number }

/** Lighthouse's "slow 4G": 150 ms, 1.6 Mbit/s down, 0.75 Mbit/s up. */
export const SLOW_4G: LineSpeed = { roundTripMs: 150, downBytesPerSecond: 200_000, upBytesPerSecond: 93_750 }

const PACKET_BYTES = 1_460
/** What a sender has on its way before it waits; more would let what comes late wait behind what nobody looks at yet. */
const WINDOW_BYTES = 48_000
const TRIPS_BEFORE = 2

type Way = (from: Socket, to: Socket) => void

/** What is sent first arrives first: one timer for all, for those of a runtime keep no order among themselves. */
const makeQueue = () => {
  const queue: { atMs: number; run(): void }[] = []
  const pump = () => {
    for (let next = queue[0]; next && next.atMs <= performance.now(); next = queue[0]) queue.shift()?.run()
    const [next] = queue
    if (next) setTimeout(pump, Math.max(0, next.atMs - performance.now()))
  }
  return (atMs: number, run: () => void) => {
    queue.push({ atMs, run })
    if (queue.length === 1) setTimeout(pump, Math.max(0, atMs - performance.now()))
  }
}

const makeWay = (bytesPerSecond: number, delayMs: number): Way => {
  const later = makeQueue()
  let freeAtMs = 0
  return (from, to) => {
    let held = 0
    const hand = (bytes: Buffer) => {
      freeAtMs = Math.max(performance.now(), freeAtMs) + (bytes.length * 1_000) / bytesPerSecond
      later(freeAtMs + delayMs, () => {
        held -= bytes.length
        if (held < WINDOW_BYTES) from.resume()
        to.write(bytes)
      })
    }
    from.on('data', (bytes: Buffer) => {
      held += bytes.length
      if (held >= WINDOW_BYTES) from.pause()
      for (let at = 0; at < bytes.length; at += PACKET_BYTES) hand(bytes.subarray(at, at + PACKET_BYTES))
    })
    from.on('end', () => later(Math.max(performance.now(), freeAtMs) + delayMs, () => void to.end()))
  }
}

/** @param port where the server listens @returns where the line is entered */
export const openSlowLine = async (
  port: number,
  { roundTripMs, downBytesPerSecond, upBytesPerSecond }: LineSpeed = SLOW_4G,
): Promise<{ port: number; end(): void }> => {
  const [up, down] = [makeWay(upBytesPerSecond, roundTripMs / 2), makeWay(downBytesPerSecond, roundTripMs / 2)]
  const open = new Set<Socket>()
  const line = createServer((visitor) => {
    const server = dial(port, '127.0.0.1')
    for (const socket of [visitor, server]) {
      open.add(socket)
      socket.on('error', () => {}) // whoever has seen the page hangs up
      socket.on('close', () => open.delete(socket))
    }
    visitor.on('close', () => server.destroy())
    setTimeout(() => up(visitor, server), TRIPS_BEFORE * roundTripMs)
    down(server, visitor)
  })
  await new Promise<void>((resolve) => line.listen(0, '127.0.0.1', resolve))
  return {
    port: (line.address() as AddressInfo).port,
    end: () => {
      line.close()
      for (const socket of open) socket.destroy()
    },
  }
}
