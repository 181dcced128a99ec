/** What a template adds to any layout: figures, and rules for how things are joined, framed and voiced. Source: rules/site.md#templates. */

export type TemplateView = {
  /** Multiplies gaps, never text. */
  density: number
  /** Of corners, in pixels. */
  radius: number
  /** Width to height that goods are set in. */
  ratio: number
  /** Pixels by which body text differs. */
  body: number
  /** Written for reading. Colours are the brand's. */
  css: string
}
