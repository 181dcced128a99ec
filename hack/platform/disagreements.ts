import { setTimeout as sleep } from 'node:timers/promises'

/** What the controllers say of truths that disagree: a database or a cluster that was put back, a cluster or a key that is not the database's. */

const pollMs = 200
const judgeMs = 60_000
const codes: readonly string[] = ['CLUSTER_UNKNOWN', 'CLUSTER_BEHIND', 'LEDGER_BEHIND', 'KEY_UNKNOWN']
const leads = /^bottega_epoch [1-9]/m

async function textOf(url: string): Promise<string> {
  try {
    return await (await fetch(url, { signal: AbortSignal.timeout(2_000) })).text()
  } catch {
    return ''
  }
}

/** One sentence each, with what to do; none when they agree, or when nobody answers. */
export async function disagreementsOf(readyUrl: string): Promise<string[]> {
  return (await textOf(readyUrl)).split('\n').flatMap((line) => {
    const [state, , ...rest] = line.split(' ')
    const sentence = rest.join(' ')
    return state === 'failed' && codes.includes(sentence.split(':', 1)[0] ?? '') ? [sentence] : []
  })
}

/** Waits until somebody leads, or says why not; both kinds of process may be asked. */
export async function whenJudged(metricsUrls: readonly string[]): Promise<string[]> {
  const deadlineMs = performance.now() + judgeMs
  for (;;) {
    const said = await Promise.all(metricsUrls.map((url) => disagreementsOf(url.replace(/\/metrics$/, '/readyz'))))
    if (said.flat().length > 0 || performance.now() > deadlineMs) return said.flat()
    const pages = await Promise.all(metricsUrls.map(textOf))
    if (pages.some((page) => leads.test(page))) return []
    await sleep(pollMs)
  }
}
