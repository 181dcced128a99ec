/** Brand tokens: whatever is sent, the page can be read. */
import fc from 'fast-check'
import { brandFaults, brandOf, hexOfColour, type Palette } from '../../../../crds/site/content/brand/brand.ts'
import { TEMPLATES } from '../../../../crds/site/content/meta.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

/** WCAG 2.2 by its own words, apart from the library that the code uses. */
const luminance = (hex: string): number => {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((from) => {
    const part = Number.parseInt(hex.slice(from, from + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
const contrast = (a: string, b: string): number => {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (light + 0.05) / (dark + 0.05)
}

const hex = fc.integer({ min: 0, max: 0xffffff }).map((number) => `#${number.toString(16).padStart(6, '0')}`)

/** Every role of a colour on every ground that it meets, with the ratio that WCAG asks for. */
const unreadable = (palette: Palette): string[] => [...besidePaper(palette), ...onOther(palette)]

const onOther = ({
  inverse,
  onInverse,
  mutedInverse,
  accentInverse,
  fillEdgeInverse,
  fill,
  onFill,
  fillEdge,
  paper,
}: Palette): string[] => [
  ...[onInverse, mutedInverse, accentInverse]
    .filter((text) => contrast(text, inverse) < 4.5)
    .map((text) => `${text} on ${inverse}`),
  ...(contrast(onFill, fill) < 4.5 ? [`${onFill} on the fill ${fill}`] : []),
  ...(contrast(fillEdge, paper) < 3 ? [`the edge ${fillEdge} on ${paper}`] : []),
  ...(contrast(fillEdgeInverse, inverse) < 3 ? [`the edge ${fillEdgeInverse} on ${inverse}`] : []),
]

const besidePaper = ({ ink, accent, accentLine, muted, edge, paper, tint, plate }: Palette): string[] =>
  [paper, tint, plate].flatMap((ground) => [
    ...[ink, accent, muted].filter((text) => contrast(text, ground) < 4.5).map((text) => `${text} on ${ground}`),
    ...[edge, accentLine].filter((line) => contrast(line, ground) < 3).map((line) => `the line ${line} on ${ground}`),
  ])

spec('brand tokens', (t) => {
  for (const template of TEMPLATES) {
    t(`${template} reads without any help`, () => {
      const { clamped, palette } = brandOf(template, null)
      assert.equal(clamped, [])
      assert.equal(unreadable(palette), [])
      assert.ok(contrast(palette.ink, palette.paper) >= 7)
    })
  }
  t('any three colours give a page that can be read, in 4,000 draws', () => {
    fc.assert(
      fc.property(fc.constantFrom(...TEMPLATES), hex, hex, hex, (template, accent, ink, paper) => {
        const { palette, tokens, clamped } = brandOf(template, { accent, ink, paper })
        assert.equal(unreadable(palette), [])
        assert.is(tokens.paper, palette.paper)
        for (const { token, to, ratio } of clamped) {
          assert.is(to, palette[token])
          const least = Math.min(...[palette.paper, palette.tint, palette.plate].map((ground) => contrast(to, ground)))
          assert.ok(Math.abs(least - ratio) < 0.02, `${ratio} is told, ${least} is measured`)
        }
      }),
      { numRuns: 4000 },
    )
  })
  t('body text reaches 7 wherever black or white does', () => {
    fc.assert(
      fc.property(hex, hex, (ink, paper) => {
        const { palette } = brandOf('studio', { ink, paper })
        const grounds = [palette.paper, palette.tint, palette.plate]
        const most = Math.max(
          ...['#000000', '#ffffff'].map((end) => Math.min(...grounds.map((one) => contrast(end, one)))),
        )
        const had = Math.min(...grounds.map((one) => contrast(palette.ink, one)))
        assert.ok(had >= Math.min(7, most) - 0.01, `${had} of ${most}`)
      }),
      { numRuns: 2000 },
    )
  })
  t('tells what was moved, from where to where, and why', () => {
    const { clamped } = brandOf('studio', { accent: '#ffe000', paper: '#ffffff' })
    assert.is(clamped.length, 1)
    const [moved] = clamped
    assert.is(moved?.token, 'accent')
    assert.is(moved?.from, '#ffe000')
    assert.ok((moved?.ratio ?? 0) >= 4.5)
    assert.match(moved?.reason ?? '', /accent on #ffffff had a contrast of 1\.1\d?, and 4\.5 is needed/)
  })
  t('never moves the fill: a button keeps the brand, whatever the brand is', () => {
    fc.assert(
      fc.property(fc.constantFrom(...TEMPLATES), hex, (template, accent) => {
        const { palette } = brandOf(template, { accent })
        assert.is(palette.fill, accent)
        assert.equal(unreadable(palette), [])
      }),
      { numRuns: 1000 },
    )
  })
  t('makes the other ground of a dark paper a step lighter, and never a glaring band', () => {
    for (const template of TEMPLATES) {
      const { palette } = brandOf(template, { paper: '#101418' })
      assert.ok(luminance(palette.inverse) > luminance(palette.paper), template)
      assert.ok(luminance(palette.inverse) < 0.08, template)
    }
  })
  t('keeps the hue of what it moves', () => {
    const { palette } = brandOf('studio', { accent: '#9ad0ff' })
    const [r = 0, g = 0, b = 0] = [1, 3, 5].map((from) => Number.parseInt(palette.accent.slice(from, from + 2), 16))
    assert.ok(b > g && g > r, palette.accent)
  })
  t('turns the text light on a dark paper', () => {
    const { palette, clamped } = brandOf('lumen', { paper: '#101418' })
    assert.equal(unreadable(palette), [])
    assert.ok(luminance(palette.ink) > luminance(palette.paper))
    assert.equal(clamped.map(({ token }) => token).sort(), ['accent', 'ink'])
  })

  const colours: [string, string | null][] = [
    ['#1A2b3C', '#1a2b3c'],
    ['rgb(255 0 0)', '#ff0000'],
    ['hsl(120, 100%, 25%)', '#008000'],
    ['oklch(0.5 0.1 200)', hexOfColour('oklch(50% 0.1 200)')],
    ['rebeccapurple', '#663399'],
    ['#12345680', null],
    ['transparent', null],
    ['rgba(0,0,0,.5)', null],
    ['red; } body { display: none', null],
    ['url(https://x.example)', null],
    ['var(--ink)', null],
    ['expression(alert(1))', null],
    ['', null],
    ['#12', null],
  ]
  for (const [text, expected] of colours) {
    t(`${JSON.stringify(text)} is ${expected ?? 'no colour'}`, () => assert.is(hexOfColour(text), expected))
  }
  t('refuses what is no colour with its place', () => {
    const faults = brandFaults({ accent: 'red', ink: 'nope', paper: '#ffffff80' })
    assert.equal(
      faults.map(({ code, pointer }) => `${code} ${pointer}`),
      ['BAD_TOKENS /ink', 'BAD_TOKENS /paper'],
    )
  })
})
