import { parseArgs } from 'node:util'
import { startLlmStandIn } from '../../stage/llmstandin.ts'

/** The language model of `hack/up --with llm`: listens until it is told to stop. */
const { values } = parseArgs({ options: { port: { type: 'string' } } })
if (!values.port) {
  console.error('Usage: llm.ts --port N')
  process.exit(2)
}
const standIn = await startLlmStandIn({ port: Number(values.port), log: console.log })
const stop = async () => {
  await standIn.stop()
  process.exit(0)
}
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop())
