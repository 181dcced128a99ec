/** How Docker asks a container for its health (compose-spec 05, healthcheck). */

import type { Health } from '../project.ts'
import type { Tree } from '../reading/parse.ts'
import {
  asMap,
  present,
  type Read,
  readBoolean,
  readDurationMs,
  readFields,
  readList,
  readText,
  readWhole,
  wrong,
} from '../reading/read.ts'
import type { ValidationContext } from '../reading/validation.ts'
import { goes } from './parts.ts'

const SECOND_MS = 1000
const HOUR_MS = 3_600_000
const RETRIES_MAX = 100

const readTest: Read<string | string[]> = (validation, tree) => {
  if (tree.kind !== 'list') return readText(validation, tree)
  const test = readList(readText, 256)(validation, tree) ?? []
  const good = ['CMD', 'CMD-SHELL', 'NONE'].includes(test[0] ?? '')
  return good ? test : wrong(validation, tree, 'a list that begins with CMD, CMD-SHELL or NONE')
}

const KNOWN = {
  test: readTest,
  interval: readDurationMs(SECOND_MS, HOUR_MS),
  timeout: readDurationMs(SECOND_MS, HOUR_MS),
  start_period: readDurationMs(0, HOUR_MS),
  start_interval: (_: ValidationContext, tree: Tree) => tree,
  retries: readWhole(1, RETRIES_MAX),
  disable: readBoolean,
}

export const readHealth: Read<Health> = (validation, tree) => {
  const map = asMap(validation, tree)
  if (!map) return undefined
  const { fields } = readFields(validation, map, { of: 'a healthcheck', known: KNOWN })
  if (fields.start_interval) {
    const detail = 'start_interval needs Docker 25, which not every host has; interval is used from the start.'
    goes(validation, fields.start_interval, detail)
  }
  if (fields.disable === true || fields.test?.[0] === 'NONE') return { disable: true }
  return present({
    test: fields.test,
    intervalMs: fields.interval,
    timeoutMs: fields.timeout,
    startPeriodMs: fields.start_period,
    retries: fields.retries,
  })
}
