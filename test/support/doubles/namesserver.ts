/** A server of names, over UDP: what it answers is a function of how often it was asked (RFC 1035). */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { bytesOfAddress } from '../../../crds/values/address.ts'

/** `alias` is answered as a CNAME before the addresses and texts. `fault`: instead of all that; `silence` is no answer at all. */
export type NamesAnswer = {
  alias?: string
  a?: readonly string[]
  aaaa?: readonly string[]
  txt?: readonly string[]
  fault?: 'servfail' | 'refused' | 'silence'
}
/** `*.NAME` answers for every label below NAME. @param asked how often the name has been asked for this kind of address, from 1 */
export type NamesZone = Record<string, (asked: number) => NamesAnswer>

export type NamesServer = {
  /** For `Resolver.setServers`. */
  address: string
  /** Questions so far, as `A name`. */
  asked: string[]
  close(): Promise<void>
}

const TYPE = { A: 1, CNAME: 5, TXT: 16, AAAA: 28 }
const TYPE_OF: Record<number, 'A' | 'AAAA' | 'TXT' | 'CNAME'> = {
  [TYPE.A]: 'A',
  [TYPE.AAAA]: 'AAAA',
  [TYPE.TXT]: 'TXT',
  [TYPE.CNAME]: 'CNAME',
}
const NAME_ERROR = 3
const FAULTS = { servfail: 2, refused: 5 }

const nameBytes = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, 'latin1')]),
    Buffer.of(0),
  ])

const addressBytes = (address: string): Buffer => {
  const bytes = bytesOfAddress(address)
  if (bytes === null) throw new Error(`${address} is no address`)
  return Buffer.from(bytes)
}

/** In strings of up to 255 bytes, as a long text comes. */
const textBytes = (text: string): Buffer => {
  const parts = text.match(/[\s\S]{1,255}/g) ?? ['']
  return Buffer.concat(parts.flatMap((part) => [Buffer.of(part.length), Buffer.from(part, 'latin1')]))
}

const record = (name: string, type: number, value: Buffer): Buffer => {
  const head = Buffer.alloc(10)
  head.writeUInt16BE(type, 0)
  head.writeUInt16BE(1, 2)
  // Time to live 0: whoever asks again is answered again.
  head.writeUInt16BE(value.length, 8)
  return Buffer.concat([nameBytes(name), head, value])
}

type Question = { name: string; type: number; bytes: Buffer }

const HEAD_BYTES = 12

const questionOf = (message: Buffer): Question => {
  const labels: string[] = []
  let at = HEAD_BYTES
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return {
    name: labels.join('.').toLowerCase(),
    type: message.readUInt16BE(at + 1),
    bytes: message.subarray(HEAD_BYTES, at + 5),
  }
}

const answerTo = (message: Buffer, question: Question, found: NamesAnswer | undefined): Buffer => {
  const addresses = question.type === TYPE.A ? found?.a : question.type === TYPE.AAAA ? found?.aaaa : undefined
  const owner = found?.alias ?? question.name
  const texts = question.type === TYPE.TXT ? found?.txt : undefined
  const fault = found?.fault === 'servfail' || found?.fault === 'refused' ? FAULTS[found.fault] : 0
  const records = [
    ...(found?.alias === undefined ? [] : [record(question.name, TYPE.CNAME, nameBytes(found.alias))]),
    ...(addresses ?? []).map((address) => record(owner, question.type, addressBytes(address))),
    ...(texts ?? []).map((text) => record(owner, TYPE.TXT, textBytes(text))),
  ]
  const head = Buffer.alloc(HEAD_BYTES)
  message.copy(head, 0, 0, 2)
  // An answer of one who may be asked for everything.
  head.writeUInt16BE(0x8180 | (found === undefined ? NAME_ERROR : fault), 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records.length, 6)
  return Buffer.concat([head, question.bytes, ...records])
}

/** @param at on loopback, and a free port, when left out */
export const startNamesServer = async (
  zone: NamesZone,
  at: { address: string; port: number } = { address: '127.0.0.1', port: 0 },
): Promise<NamesServer> => {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (message, from) => {
    const question = questionOf(message)
    const line = `${TYPE_OF[question.type] ?? question.type} ${question.name}`
    asked.push(line)
    const times = asked.filter((one) => one === line).length
    const wild = `*.${question.name.slice(question.name.indexOf('.') + 1)}`
    const found = (zone[question.name] ?? zone[wild])?.(times)
    if (found?.fault !== 'silence') socket.send(answerTo(message, question, found), from.port, from.address)
  })
  socket.bind(at.port, at.address)
  await once(socket, 'listening')
  return {
    address: `${at.address}:${socket.address().port}`,
    asked,
    close: async () => {
      socket.close()
      await once(socket, 'close')
    },
  }
}
