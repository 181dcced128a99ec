/**
 * The document of a lone send is drawn while its number is claimed, under the number that comes next in all likelihood: whoever
 * sends waits for both, and the two need nothing of each other (hack/decisions/106). What was drawn counts only for exactly
 * what is frozen then; under another number it is drawn again, and nobody has seen it.
 */
import type { Frozen } from '../../../crds/invoice/order/frozen.ts'

export type Ahead = {
  /** Does nothing while another is being drawn. */
  begin(resource: string, frozen: Frozen, draw: () => Promise<Buffer>): void
  /** Once: what is drawn of exactly this. It fails as the drawing does. Null when nothing is. */
  take(resource: string, frozen: unknown): Promise<Buffer> | null
}

type Drawing = { resource: string; text: string; bytes: Promise<Buffer>; isOver: boolean }

/** One at a time: where several are sent at once each would guess the same number. */
export const makeAhead = (): Ahead => {
  let last: Drawing | null = null
  return {
    begin(resource, frozen, draw) {
      if (last && !last.isOver) return
      const drawing: Drawing = { resource, text: JSON.stringify(frozen), bytes: draw(), isOver: false }
      const over = () => {
        drawing.isOver = true
      }
      drawing.bytes.then(over, over)
      last = drawing
    },
    take(resource, frozen) {
      const drawing = last
      if (drawing?.resource !== resource || drawing.text !== JSON.stringify(frozen)) return null
      last = null
      return drawing.bytes
    },
  }
}
