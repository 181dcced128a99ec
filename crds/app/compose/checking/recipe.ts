/**
 * The Dockerfile of a build, judged line by line: what it takes from elsewhere than its upload and public registries. It tells a
 * person, with the line; what a step does when it runs, nobody can read here.
 * Source: BuildKit, frontend/dockerfile/docs/reference.md ("Parser directives", "RUN --mount", "ADD", "COPY --from").
 */
import { isPublicAddress } from '../../../values/address.ts'
import type { At, ValidationContext } from '../reading/validation.ts'
import { isPublicImage } from './image.ts'

export const RECIPE_MAX_CHARS = 65_536

/** What the frontend that is built in reads as it is. */
const OWN_FRONTEND = /^(docker\.io\/)?docker\/dockerfile(:[\w.-]{1,128})?(@sha256:[0-9a-f]{64})?$/
const isOwnFrontend = (image: string): boolean => OWN_FRONTEND.test(image)

/** An instruction with its flags, and the line that it begins on, from 1. */
type Instruction = { word: string; flags: string[]; words: string[]; line: number }

const DIRECTIVE = /^\s*(?:#|\/\/)\s*([a-z]+)\s*=\s*(\S*)/i
const HEREDOC = /^\d*<<(-?)["']?([A-Za-z_][\w.]*)["']?$/

const instructionOf = (text: string, line: number): Instruction => {
  const [word = '', ...rest] = text.trim().split(/\s+/)
  const end = rest.findIndex((one) => !one.startsWith('--'))
  const at = end < 0 ? rest.length : end
  return { word: word.toUpperCase(), flags: rest.slice(0, at), words: rest.slice(at), line }
}

/** Where the here-documents that a line opens end. */
const afterDocuments = (lines: readonly string[], text: string, next: number): number => {
  if (!/^\s*(onbuild\s+)?(run|copy|add)\s/i.test(text)) return next
  let at = next
  for (const word of text.split(/\s+/)) {
    const [, dash, name] = HEREDOC.exec(word) ?? []
    if (name === undefined) continue
    const isEnd = (line: string) => (dash ? line.replace(/^\t+/, '') : line) === name
    while (at < lines.length && !isEnd(lines[at] ?? '')) at += 1
    at += 1
  }
  return at
}

const instructionsOf = (lines: readonly string[], continued: string): Instruction[] => {
  const found: Instruction[] = []
  for (let at = 0; at < lines.length; ) {
    const first = at
    let text = ''
    let isOpen = true
    while (isOpen && at < lines.length) {
      const line = lines[at] ?? ''
      at += 1
      if (/^\s*(#|$)/.test(line)) {
        isOpen = text !== ''
        continue
      }
      const end = line.trimEnd()
      isOpen = end.endsWith(continued)
      text += ` ${isOpen ? end.slice(0, -1) : end}`
    }
    if (text === '') continue
    found.push(instructionOf(text, first + 1))
    at = afterDocuments(lines, text, at)
  }
  return found
}

/** `$NAME`, `${NAME}`, `${NAME:-word}` and `${NAME:+word}` as a FROM reads them. */
const expand = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replace(/\$(?:\{(\w{1,100})(?::([-+])([^}$]{0,300}))?\}|(\w{1,100}))/g, (_, braced, sign, word, bare) => {
    const value = values.get(braced ?? bare) ?? ''
    if (sign === '-') return value === '' ? word : value
    if (sign === '+') return value === '' ? '' : word
    return value
  })

type Reading = {
  validation: ValidationContext
  at: At
  stages: Set<string>
  values: Map<string, string>
  args: Readonly<Record<string, string>>
}

const ELSEWHERE = 'Put what the build needs into the upload, or take it from a public registry.'

const refuse = ({ validation, at }: Reading, line: number, detail: string, next = ELSEWHERE): void =>
  void validation.refuse({ ...at, line }, 'remote-build', detail, next)

const checkImage = (reading: Reading, written: string, line: number): void => {
  const image = expand(written.replace(/^["']|["']$/g, ''), reading.values)
  const isStage = reading.stages.has(image.toLowerCase()) || /^\d{1,3}$/.test(image) || image === 'scratch'
  if (isStage || (image !== '' && isPublicImage(image))) return
  refuse(reading, line, `${JSON.stringify(written.slice(0, 80))} is no image of a public registry.`)
}

const from = (reading: Reading, { words, line }: Instruction): void => {
  checkImage(reading, words[0] ?? '', line)
  if (words[1]?.toUpperCase() === 'AS' && words[2]) reading.stages.add(words[2].toLowerCase())
}

const MOUNTS = ['bind', 'cache', 'tmpfs']

const mount = (reading: Reading, written: string, line: number): void => {
  const options = new Map(written.split(',').map((one) => one.split(/=(.*)/s) as [string, string]))
  const type = options.get('type') ?? 'bind'
  if (!MOUNTS.includes(type)) refuse(reading, line, `A build is given no ${type.slice(0, 40)} of the host.`)
  const source = options.get('from')
  if (source !== undefined) checkImage(reading, source, line)
}

const flag = (reading: Reading, { word, line }: Instruction, written: string): void => {
  const [, name = '', value = ''] = /^--([\w-]+)(?:=(.*))?$/s.exec(written) ?? []
  if (word === 'RUN' && name === 'mount') mount(reading, value, line)
  if (word === 'RUN' && name === 'security' && value !== 'sandbox') refuse(reading, line, 'A build is given no rights.')
  if (word === 'RUN' && name === 'network' && !['default', 'none'].includes(value))
    refuse(reading, line, 'A build is not given the network of the host.', 'Remove --network.')
  if (word === 'COPY' && name === 'from') checkImage(reading, value, line)
}

const isPublicName = (host: string): boolean =>
  /^[\d.]+$|:/.test(host)
    ? isPublicAddress(host)
    : /^([a-z0-9-]+\.)+[a-z][a-z0-9-]*$/i.test(host) &&
      !/\.(local|localhost|localdomain|internal|intranet|lan|home|corp|arpa)$/i.test(host)

const checkSource = (reading: Reading, written: string, line: number): void => {
  const source = expand(written, reading.values)
  const isRemote = /^[a-z][a-z0-9+.-]*:\/\/|^[\w.-]+@[\w.-]+:|\.git(#|$)|^git@/i.test(source)
  if (!isRemote) return
  const url = /^https?:\/\//i.test(source) ? URL.parse(source) : null
  const isFine = url !== null && url.username === '' && isPublicName(url.hostname.replace(/^\[|\]$/g, ''))
  if (!isFine) refuse(reading, line, `${JSON.stringify(written.slice(0, 80))} is no public address.`)
}

const read = (reading: Reading, instruction: Instruction): void => {
  const { word, flags, words, line } = instruction
  for (const one of flags) flag(reading, instruction, one)
  switch (word) {
    case 'FROM':
      from(reading, instruction)
      return
    case 'ARG':
      for (const one of words) {
        const [name = '', value = ''] = one.split(/=(.*)/s)
        const given = reading.args[name] ?? expand(value.replace(/^["']|["']$/g, ''), reading.values)
        if (given !== '' || !reading.values.has(name)) reading.values.set(name, given)
      }
      return
    case 'ADD':
      for (const one of words) checkSource(reading, one.replace(/^\[?"|"[\],]*$/g, ''), line)
      return
    case 'ONBUILD':
      read(reading, instructionOf([...flags, ...words].join(' '), line))
      return
    default:
  }
}

/** Adds a finding for every line that asks for more than the upload and public registries. @param at the build */
export const checkRecipe = (
  validation: ValidationContext,
  at: At,
  { text, args }: { text: string; args: Readonly<Record<string, string>> },
): void => {
  const reading: Reading = { validation, at, stages: new Set(), values: new Map(), args }
  if (text.length > RECIPE_MAX_CHARS) {
    validation.refuse(at, 'size', `It has more than ${RECIPE_MAX_CHARS} characters.`, 'Shorten it.')
    return
  }
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/)
  const start = lines.findIndex((line) => !/^\s*(#|\/\/|$)/.test(line))
  const head = lines.slice(0, start < 0 ? lines.length : start)
  let continued = '\\'
  head.forEach((line, index) => {
    const [, name = '', value = ''] = DIRECTIVE.exec(line) ?? []
    if (name.toLowerCase() === 'escape' && value === '`') continued = '`'
    if (name.toLowerCase() !== 'syntax' || isOwnFrontend(value)) return
    const detail = `${JSON.stringify(value.slice(0, 80))} is not the frontend that builds here.`
    refuse(reading, index + 1, detail, 'Remove the line, or write # syntax=docker/dockerfile:1.')
  })
  if (/^\s*\{/.test(lines[start] ?? '')) refuse(reading, start + 1, 'A Dockerfile is no JSON.', 'Write instructions.')
  const kept = lines.map((line) => (/^\s*\/\//.test(line) ? '' : line))
  for (const instruction of instructionsOf(kept, continued)) read(reading, instruction)
}
