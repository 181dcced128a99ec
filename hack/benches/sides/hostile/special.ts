import { gzipSync } from 'node:zlib'
import { pictureOf } from './picture.ts'

/** Bodies that only their own route reads: compose files, pictures of sites, and what is no JSON. */

export type Special = { what: string; contentType: string; encoding?: string; body(): string | Buffer }

const JSON_TYPE = 'application/json'

const IMAGE = 'image: nginx'
const compose = (services: string): string => `services:\n${services}`
const many = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('')

/** YAML of about so many bytes. */
const COMPOSES: readonly [what: string, of: (bytes: number) => string][] = [
  ['services', (bytes) => compose(many(bytes / 24, (n) => `  s${n}: { ${IMAGE} }\n`))],
  [
    'aliases of aliases',
    () =>
      `a0: &a0 [x, x]\n${many(60, (n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]\n`)}${compose(`  web: { ${IMAGE}, command: *a60 }\n`)}`,
  ],
  [
    'merges',
    (bytes) =>
      `x: &x { a: 1 }\n${compose(`  web:\n    ${IMAGE}\n    labels:\n      <<: [${'*x, '.repeat(bytes / 4)}*x]\n`)}`,
  ],
  ['open lists', (bytes) => compose(`  web: { ${IMAGE}, command: ${'['.repeat(bytes)} }\n`)],
  ['levels of maps', () => compose(many(1_200, (n) => `${' '.repeat(n + 2)}a:\n`))],
  [
    'environment',
    (bytes) => compose(`  web:\n    ${IMAGE}\n    environment:\n${many(bytes / 22, (n) => `      KEY${n}: value\n`)}`),
  ],
  [
    'defaults in defaults',
    (bytes) => compose(`  web: { image: "${'${A:-'.repeat(bytes / 6)}x${'}'.repeat(bytes / 6)}" }\n`),
  ],
  ['open variables', (bytes) => compose(`  web: { image: "${'${A'.repeat(bytes / 3)}" }\n`)],
  ['escapes', (bytes) => compose(`  web: { image: "${'\\x41'.repeat(bytes / 4)}" }\n`)],
  ['documents', (bytes) => '---\n'.repeat(bytes / 4)],
  [
    'ports',
    (bytes) => compose(`  web:\n    ${IMAGE}\n    ports:\n${many(bytes / 22, (n) => `      - "1-${n}:80/tcp"\n`)}`),
  ],
  ['dependences', (bytes) => compose(many(bytes / 52, (n) => `  s${n}: { ${IMAGE}, depends_on: [s${n + 1}] }\n`))],
  ['the same key', (bytes) => compose(`  web: { ${IMAGE} }\n`.repeat(bytes / 26))],
]

/** A compose file that is read as one, in the field of that name. */
export const composesOf = (bytes: number): Special[] =>
  COMPOSES.map(([what, of]) => ({
    what: `compose of ${what}`,
    contentType: JSON_TYPE,
    // escaped it would be longer than is taken
    body: () => JSON.stringify({ compose: of(Math.floor(bytes * 0.85)).slice(0, Math.floor(bytes * 0.85)) }),
  }))

const content = { meta: { company_name: 'Hostile' } }
const hero = (image: string) => ({ ...content, hero: { title: 'Hostile', image } })

/** Whole sites with pictures that are good, as large as is taken. */
export const picturesOf = (bytes: number): Special[] => {
  const raw = Math.floor((bytes - 10_000) * 0.75)
  const one = (size: number) => pictureOf(size).toString('base64')
  return [
    {
      what: 'a picture as an asset, as large as a body',
      contentType: JSON_TYPE,
      body: () => JSON.stringify({ content, assets: { large: one(raw) } }),
    },
    {
      what: 'a picture as an asset, as large as assets may be',
      contentType: JSON_TYPE,
      body: () => JSON.stringify({ content, assets: { large: one(9_900_000) } }),
    },
    {
      what: 'forty pictures as assets',
      contentType: JSON_TYPE,
      body: () =>
        JSON.stringify({
          content,
          assets: Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`n${n}`, one(240_000 + n)])),
        }),
    },
    {
      what: 'a picture in the content',
      contentType: JSON_TYPE,
      body: () => JSON.stringify({ content: hero(`data:image/png;base64,${one(10_000_000)}`) }),
    },
  ]
}

/** Of JSON that is taken, and of more than that. */
export const packedOf = (bytes: number): Special[] => [
  {
    what: 'blanks, packed',
    contentType: JSON_TYPE,
    encoding: 'gzip',
    body: () => gzipSync(Buffer.from(`{"a":"${' '.repeat(bytes - 100)}"}`)),
  },
  {
    what: 'far more than is taken, packed',
    contentType: JSON_TYPE,
    encoding: 'gzip',
    body: () => gzipSync(Buffer.alloc(bytes * 10, ' ')),
  },
]

const BOUNDARY = 'x'.repeat(60)
const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`
const part = (name: string, text: string): string =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"; filename="${name}.txt"\r\ncontent-type: text/plain\r\n\r\n${text}\r\n`

const partsOf = (bytes: number): Special[] =>
  [
    { what: 'one large part', body: () => `${part('file', 'a '.repeat(bytes / 2 - 200))}--${BOUNDARY}--` },
    { what: 'many parts', body: () => `${part('file', 'a').repeat(bytes / 180)}--${BOUNDARY}--` },
    {
      what: 'boundaries that are none',
      body: () => `${part('file', `\r\n--${BOUNDARY.slice(1)}y`.repeat(bytes / 64))}--${BOUNDARY}--`,
    },
    { what: 'a part without end', body: () => part('file', '\r\n'.repeat(bytes / 2 - 200)).slice(0, -2) },
  ].map((one) => ({ ...one, contentType: MULTIPART }))

/** What a route takes as bytes, or nobody describes. */
export const bytesOf = (types: readonly string[], bytes: number): Special[] =>
  types.flatMap((type): Special[] => {
    if (type.startsWith('multipart/')) return partsOf(bytes)
    const contentType = type.replace('image/*', 'image/png').replace('*/*', 'application/octet-stream')
    const of = (what: string, body: Special['body']): Special => ({
      what: `${contentType}: ${what}`,
      contentType,
      body,
    })
    if (contentType === 'application/gzip')
      return [of('an archive that is nothing but zeros', () => gzipSync(Buffer.alloc(100_000_000)))]
    return [
      of('text', () => 'word '.repeat(bytes / 5 - 1)),
      of('zeros', () => Buffer.alloc(bytes - 1)),
      ...(contentType === 'application/x-www-form-urlencoded' ? [of('fields', () => 'a=%41&'.repeat(bytes / 6))] : []),
      ...(contentType === 'image/png' ? [of('a picture', () => pictureOf(bytes - 100))] : []),
      ...(contentType === 'application/pdf'
        ? [of('objects', () => `%PDF-1.7\n${'1 0 obj<</A 1 0 R>>endobj\n'.repeat(bytes / 26 - 1)}`)]
        : []),
    ]
  })
