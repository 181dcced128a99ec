import { chmodSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Bench, type BenchFigure, figure, figureLine } from '../benches/sides/figure.ts'
import { createProgress } from '../lib/progress.ts'
import { CommandRefusal, runCommand } from '../lib/refusal.ts'

/**
 * `hack/bench [PART…] [--json]`: measures Bottega beside its peers, in one run on one machine. A part is a file of
 * hack/benches that exports `bench`. One line per figure, or with --json one array of them.
 */

const folder = join(import.meta.dirname, '..', 'benches')

await runCommand(async () => {
  const { values, positionals } = readArgs()
  const known = globSync(join(folder, '*.ts'))
    .map((file) => basename(file, '.ts'))
    .sort()
  const parts = positionals.length > 0 ? positionals : known
  const strange = parts.find((part) => !known.includes(part))
  if (strange !== undefined)
    throw new CommandRefusal(`There is no part ${strange}: choose from ${known.join(', ')}.`, { exitCode: 2 })

  const figures: BenchFigure[] = []
  for (const part of parts) await runPart(part, (one) => tell(figures, one, values.json))
  if (values.json) console.log(JSON.stringify(figures, null, 2))
  return 0
})

function readArgs() {
  try {
    return parseArgs({ options: { json: { type: 'boolean', default: false } }, allowPositionals: true })
  } catch (error) {
    throw new CommandRefusal('Usage: hack/bench [PART…] [--json]', { exitCode: 2, cause: error })
  }
}

function tell(figures: BenchFigure[], one: BenchFigure, json: boolean): void {
  figures.push(one)
  if (!json) console.log(figureLine(one))
}

async function runPart(part: string, take: (one: BenchFigure) => void): Promise<void> {
  const { bench } = (await import(`../benches/${part}.ts`)) as { bench: Bench }
  const scratch = mkdtempSync(`/tmp/bottega-bench-${part}-`)
  chmodSync(scratch, 0o755)
  try {
    await bench({
      progress: createProgress(),
      scratch,
      figure(measured) {
        const one = figure(measured)
        take(one)
        return one
      },
    })
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
