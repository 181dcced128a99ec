import { closeSync, openSync, readSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { parseArgs } from 'node:util'
import { PRICING_VERSION } from '../../crds/devinstance/sizing/prices.ts'
import { OfferFault, type OfferList, readOffers } from '../../crds/devinstance/sizing/pricing/offers.ts'
import { repriceOf, repriceText } from '../../crds/devinstance/sizing/pricing/reprice.ts'
import { CommandRefusal, messageOf, runCommand } from '../lib/refusal.ts'

/**
 * `hack/reprice FILE…`: the reviewed prices of dev instances against price lists of AWS (offer index files of AmazonEC2 and
 * AmazonVPC, as JSON). It prints what has changed and what is old, and writes nothing.
 */

const usage = `Usage: hack/reprice FILE… [--older-than DAYS] [--on YYYY-MM-DD]
Ends with 0 where nothing has changed, with 3 where something has.`
const CHANGED = 3
const OLDER_THAN_DAYS = 90
/** A longer text is no string of Node's. The list of one region has about 450 MB, and some 250 of them are on demand. */
const TEXT_BYTES_MAX = 500 * 1024 * 1024
const CHUNK_BYTES = 16 * 1024 * 1024
/** The last part of a list. */
const RESERVED = /,\s*"Reserved"\s*:/
/** A little more than the above takes, where chunks part it. */
const RESERVED_BYTES_MAX = 64

function typed() {
  try {
    const { values, positionals } = parseArgs({
      options: { 'older-than': { type: 'string' }, on: { type: 'string' } },
      allowPositionals: true,
    })
    const { 'older-than': olderThan = String(OLDER_THAN_DAYS), on = new Date().toISOString().slice(0, 10) } = values
    const isDay = /^\d{4}-\d\d-\d\d$/.test(on) && !Number.isNaN(Date.parse(on))
    if (positionals.length > 0 && /^\d{1,4}$/.test(olderThan) && isDay) {
      return { files: positionals, on, olderThanDays: Number(olderThan) }
    }
  } catch (error) {
    throw new CommandRefusal(`${messageOf(error)}\n${usage}`, { exitCode: 2 })
  }
  throw new CommandRefusal(usage, { exitCode: 2 })
}

/** The list without what is reserved, which nobody asks about: that is most of it, and is not read. */
function onDemandOf(path: string): string {
  const file = openSync(path, 'r')
  const decoder = new StringDecoder('utf8')
  const chunk = Buffer.alloc(CHUNK_BYTES)
  const texts: string[] = []
  try {
    for (let bytes = 0, end = ''; bytes <= TEXT_BYTES_MAX; end = (texts.at(-1) ?? '').slice(-RESERVED_BYTES_MAX)) {
      const read = readSync(file, chunk)
      if (read === 0) return texts.join('')
      bytes += read
      const text = decoder.write(chunk.subarray(0, read))
      const found = RESERVED.exec(end + text)
      if (!found) texts.push(text)
      else return `${texts.join('').slice(0, -end.length || undefined)}${(end + text).slice(0, found.index)}}}`
    }
  } finally {
    closeSync(file)
  }
  throw new CommandRefusal(`${path} has more than 500 MB on demand: take the price list of one region.`)
}

function offersIn(path: string): OfferList {
  try {
    return readOffers(JSON.parse(onDemandOf(path)))
  } catch (error) {
    if (error instanceof CommandRefusal) throw error
    if (!(error instanceof OfferFault || error instanceof SyntaxError)) throw new CommandRefusal(messageOf(error))
    throw new CommandRefusal(`${path} is no price list of AWS: ${messageOf(error)}. Take an offer index file, as JSON.`)
  }
}

async function main(): Promise<number> {
  const { files, ...asked } = typed()
  const found = repriceOf(files.map(offersIn), { pricingVersion: PRICING_VERSION, ...asked })
  console.log(repriceText(found))
  return found.hasChanged ? CHANGED : 0
}

await runCommand(main)
