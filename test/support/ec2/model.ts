/**
 * EC2's own description of its actions, as botocore ships it: what a request may hold, and what an answer may, by the EC2 Query
 * protocol. The driver's stand-in is ours as the driver is; this is nobody's of us.
 */
import { globSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type Element, readXml } from '../judges/xml.ts'
import type { Query } from './query.ts'

type Member = { shape: string; locationName?: string; queryName?: string; flattened?: boolean }
type Shape = {
  type: 'structure' | 'list' | 'string' | 'integer' | 'long' | 'float' | 'double' | 'boolean' | 'timestamp' | 'blob'
  members?: Record<string, Member>
  required?: readonly string[]
  member?: Member
  enum?: readonly string[]
  flattened?: boolean
}
export type Ec2Model = {
  metadata: { apiVersion: string }
  operations: Record<string, { input?: Member; output?: Member }>
  shapes: Record<string, Shape>
}

/** @param motoServer the tool that botocore was installed with */
export const readModel = (motoServer: string): Ec2Model => {
  const venv = dirname(dirname(realpathSync(motoServer)))
  const [found] = globSync('lib/python3*/site-packages/botocore/data/ec2/2016-11-15/service-2.json.gz', { cwd: venv })
  if (found === undefined) throw new Error(`${venv} has no description of EC2`)
  return JSON.parse(gunzipSync(readFileSync(join(venv, found))).toString('utf8')) as Ec2Model
}

const SCALARS: Partial<Record<Shape['type'], RegExp>> = {
  integer: /^-?\d+$/,
  long: /^-?\d+$/,
  float: /^-?\d+(\.\d+)?$/,
  double: /^-?\d+(\.\d+)?$/,
  boolean: /^(true|false)$/,
  timestamp: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/,
  blob: /^[A-Za-z0-9+/]*={0,2}$/,
}

const scalarFaults = ({ type, enum: values }: Shape, text: string, at: string): string[] => {
  if (SCALARS[type]?.test(text) === false) return [`${at} is no ${type}: ${text}`]
  return values && !values.includes(text) ? [`${at} has no such value: ${text}`] : []
}

/** What a request held, as a tree: `InstanceId.1` lies at InstanceId, then 1. */
type Asked = { text?: string; below: Map<string, Asked> }

const treeOf = (query: Query): Asked => {
  const root: Asked = { below: new Map() }
  for (const [key, text] of query) {
    let at = root
    for (const part of key.split('.')) {
      const next = at.below.get(part) ?? { below: new Map<string, Asked>() }
      at.below.set(part, next)
      at = next
    }
    at.text = text
  }
  return root
}

const askedName = (name: string, { queryName, locationName }: Member): string =>
  queryName ?? (locationName === undefined ? name : locationName.charAt(0).toUpperCase() + locationName.slice(1))

/** Its name in answers: never that of requests. */
const answeredName = (name: string, { locationName }: Member): string => locationName ?? name

const shapeOf = ({ shapes }: Ec2Model, { shape }: Member): Shape => {
  const found = shapes[shape]
  if (!found) throw new Error(`EC2 has no ${shape}`)
  return found
}

const askedFaults = (model: Ec2Model, member: Member, { text, below }: Asked, at: string): string[] => {
  const shape = shapeOf(model, member)
  const inner = (one: Member, name: string, found: Asked) => askedFaults(model, one, found, `${at}.${name}`)
  if (shape.type === 'structure') {
    const known = new Map(
      Object.entries(shape.members ?? {}).map(([name, one]) => [askedName(name, one), { name, one }]),
    )
    const missing = (shape.required ?? []).filter(
      (name) => ![...known].some(([asked, one]) => one.name === name && below.has(asked)),
    )
    return [
      ...(text === undefined ? [] : [`${at} is no value`]),
      ...missing.map((name) => `${at} lacks ${name}`),
      ...[...below].flatMap(([name, found]) => {
        const one = known.get(name)?.one
        return one ? inner(one, name, found) : [`${at} has no ${name}`]
      }),
    ]
  }
  if (shape.type === 'list') {
    const item = shape.member
    if (!item || text !== undefined) return [`${at} is a list: ${text}`]
    const isInOrder = [...below.keys()].every((name) => Number(name) >= 1 && Number(name) <= below.size)
    return isInOrder ? [...below].flatMap(([name, found]) => inner(item, name, found)) : [`${at} is not counted from 1`]
  }
  return text === undefined || below.size > 0 ? [`${at} is one value`] : scalarFaults(shape, text, at)
}

/** What of a request EC2 would not know. */
export const askedWrongly = (model: Ec2Model, query: Query): string[] => {
  const { Action = '', Version, ...rest } = Object.fromEntries(query)
  const operation = model.operations[Action]
  if (!operation) return [`EC2 has no action ${Action}`]
  const version = Version === model.metadata.apiVersion ? [] : [`the version ${Version} is not of this model`]
  const asked = treeOf(new Map(Object.entries(rest)))
  const faults = operation.input ? askedFaults(model, operation.input, asked, Action) : []
  return [...version, ...faults]
}

const answeredFaults = (model: Ec2Model, member: Member, { children, text }: Element, at: string): string[] => {
  const shape = shapeOf(model, member)
  if (shape.type === 'structure') {
    const known = new Map(Object.entries(shape.members ?? {}).map(([name, one]) => [answeredName(name, one), one]))
    const twice = children.filter(({ name }, index) => children.findIndex((one) => one.name === name) !== index)
    return [
      ...twice.map(({ name }) => `${at} has ${name} twice`),
      ...children.flatMap((child) => {
        const one = known.get(child.name)
        return one ? answeredFaults(model, one, child, `${at}.${child.name}`) : [`${at} has no ${child.name}`]
      }),
    ]
  }
  if (shape.type === 'list') {
    const item = shape.member
    const name = item?.locationName ?? 'item'
    if (!item || text.trim() !== '') return [`${at} is a list: ${text}`]
    return children.flatMap((child) =>
      child.name === name ? answeredFaults(model, item, child, `${at}.${name}`) : [`${at} is a list of ${name}s`],
    )
  }
  return children.length > 0 ? [`${at} is one value`] : scalarFaults(shape, text, at)
}

const refusedFaults = ({ name, children }: Element, action: string): string[] => {
  const errors = children.find((one) => one.name === 'Errors')?.children ?? []
  const isWhole = errors.every((one) =>
    ['Code', 'Message'].every((part) => one.children.some((it) => it.name === part)),
  )
  const hasId = children.some((one) => one.name === 'RequestID')
  return name === 'Response' && errors.length > 0 && isWhole && hasId ? [] : [`${action} is not refused as EC2 does it`]
}

/** Not described, and there in each answer of an action that gives nothing else. */
const ALWAYS = ['requestId', 'return']

/** What of an answer EC2 would not say. */
export const answeredWrongly = (model: Ec2Model, action: string, xml: string): string[] => {
  const root = readXml(xml)
  if (root.name !== `${action}Response`) return refusedFaults(root, action)
  const output = model.operations[action]?.output
  const children = root.children.filter(({ name }) => !ALWAYS.includes(name))
  const faults = output
    ? answeredFaults(model, output, { ...root, children }, action)
    : children.map(({ name }) => `${action} has no ${name}`)
  return faults
}
