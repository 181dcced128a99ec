import type { WriteStream } from 'node:tty'

/** One long step: `update` shows where it stands, exactly one of `done` and `fail` ends it. */
export type Step = {
  update(detail: string, fraction?: number): void
  done(detail?: string): void
  fail(detail?: string): void
}
export type Progress = { step(title: string): Step; line(text: string): void }

const barWidth = 24
/** The longer a step takes, the more seldom a log is told: a quarter of an hour is some thirty lines. */
const plainEveryMs = { least: 10_000, most: 60_000, share: 0.25 }
const drawEveryMs = 80

type Output = Pick<WriteStream, 'write'> & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>

/** Shows steps on `out`: a bar that redraws itself on a terminal, otherwise plain lines at start, end and now and then. */
export function createProgress(out: Output = process.stderr): Progress {
  const tty = out.isTTY === true
  const clear = tty ? '\r\x1b[K' : ''
  const line = (text: string) => void out.write(`${clear}${text}\n`)

  const step = (title: string): Step => {
    const startedMs = performance.now()
    let shownMs = tty ? Number.NEGATIVE_INFINITY : startedMs
    if (tty) out.write(`${clear}· ${title}`)
    else line(`· ${title}`)
    const took = () => `${((performance.now() - startedMs) / 1000).toFixed(1)} s`
    return {
      update(detail, fraction) {
        const nowMs = performance.now()
        if (nowMs - shownMs < (tty ? drawEveryMs : pauseAfter(nowMs - startedMs))) return
        shownMs = nowMs
        const text = `· ${title} ${fraction === undefined ? '' : bar(fraction)}${detail}`
        if (tty) out.write(`${clear}${text.slice(0, (out.columns ?? 80) - 1)}`)
        else line(text)
      },
      done: (detail = '') => line(`✓ ${title}${detail && `: ${detail}`} (${took()})`),
      fail: (detail = '') => line(`✗ ${title}${detail && `: ${detail}`} (${took()})`),
    }
  }
  return { step, line }
}

/** Marks a step as failed on the way of its error to the report. */
export function failing(step: Pick<Step, 'fail'>): (error: unknown) => never {
  return (error) => {
    step.fail()
    throw error
  }
}

function pauseAfter(elapsedMs: number): number {
  const { least, most, share } = plainEveryMs
  return Math.min(most, Math.max(least, elapsedMs * share))
}

function bar(fraction: number): string {
  const full = Math.round(Math.min(1, Math.max(0, fraction)) * barWidth)
  return `[${'#'.repeat(full)}${'-'.repeat(barWidth - full)}] `
}
