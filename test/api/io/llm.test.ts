import { LlmBadAnswer, LlmUnavailable, makeLlm, type Question, type Reading } from '../../../api/io/llm.ts'
import {
  breaks,
  drips,
  floods,
  hangs,
  type Reply,
  refuses,
  type StandInLlm,
  says,
  startLlm,
} from '../../support/doubles/llm.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const TIMEOUT_MS = 2_500
const QUESTION: Question = {
  account: 'demo',
  name: 'number',
  system: 'Answer with a number.',
  messages: [{ role: 'user', content: 'Which one?' }],
  schema: { type: 'object' },
  correction: (why) => `again: ${why.join()}`,
}
const isFive = (answer: unknown): Reading<number> => (answer === 5 ? { value: 5 } : { why: ['it is not five'] })

spec('a language model', (t) => {
  let server: StandInLlm
  const logged: unknown[] = []
  const llmOf = (url: string, key?: string) =>
    makeLlm(
      { url, model: 'small', key, timeoutMs: TIMEOUT_MS },
      { log: { warn: (...facts: unknown[]) => void logged.push(facts) } },
    )
  const ask = (...replies: Reply[]) => {
    server.will(...replies)
    return llmOf(server.url, 'sk-secret').ask(QUESTION, isFive)
  }
  const failure = async (work: Promise<unknown>): Promise<{ error: unknown; tookMs: number }> => {
    const startMs = performance.now()
    const error = await work.then(
      () => undefined,
      (thrown) => thrown,
    )
    return { error, tookMs: performance.now() - startMs }
  }

  t.before(async () => {
    server = await startLlm()
  })
  t.after(() => server.end())

  t('is asked with the model, the key, the schema and no tool', async () => {
    assert.is(await ask(says('5')), 5)
    const [{ url, headers, body }] = server.asked as [(typeof server.asked)[number]]
    assert.equal([url, headers.authorization, body.model], ['/v1/chat/completions', 'Bearer sk-secret', 'small'])
    assert.equal(body.messages, [
      { role: 'system', content: QUESTION.system },
      { role: 'user', content: 'Which one?' },
    ])
    assert.equal(body.response_format.json_schema.strict, true)
    assert.equal(Object.keys(body).sort(), ['messages', 'model', 'response_format'])
  })

  t('needs no key where the endpoint wants none', async () => {
    server.will(says('5'))
    await llmOf(server.url).ask(QUESTION, isFive)
    assert.is(server.asked[0]?.headers.authorization, undefined)
  })

  t('is heard through a fence around its JSON', async () => {
    assert.is(await ask(says('```json\n5\n```')), 5)
  })

  t('is told what was wrong and asked again, three times in all', async () => {
    assert.is(await ask(says('4'), says('5')), 5)
    const again = server.asked[1]?.body.messages.slice(2)
    assert.equal(again, [
      { role: 'assistant', content: '4' },
      { role: 'user', content: 'again: it is not five' },
    ])
    const { error } = await failure(ask(says('4')))
    assert.instance(error, LlmBadAnswer)
    assert.equal([server.asked.length, (error as LlmBadAnswer).why], [3, ['it is not five']])
  })

  const unusable: [string, Reply][] = [
    ['prose', says('Gladly! Here is the number five.')],
    ['an answer that was cut off', says('5', {}, 'length')],
    [
      'a call of a tool in place of an answer',
      says('', { tool_calls: [{ function: { name: 'five', arguments: '5' } }] }),
    ],
    ['a refusal', says('', { content: null, refusal: '5' })],
  ]
  for (const [what, reply] of unusable) {
    t(`is not believed when it gives ${what}`, async () => {
      assert.instance((await failure(ask(reply))).error, LlmBadAnswer)
      assert.is(server.asked.length, 3)
    })
  }

  const away: [string, Reply, tries: number][] = [
    ['fails with 500', refuses(500), 3],
    ['breaks off', breaks, 3],
    ['answers something that is no completion', refuses(200, {}, '<html>'), 3],
    ['answers null', refuses(200, {}, 'null'), 3],
    ['does not know the key', refuses(401), 1],
    ['does not know the model', refuses(404), 1],
    ['points elsewhere', refuses(307, { location: 'http://127.0.0.1:1/v1/chat/completions' }), 1],
    ['wants a long pause', refuses(429, { 'retry-after': '120' }), 1],
    ['floods', floods(4_000_000), 1],
  ]
  for (const [what, reply, tries] of away) {
    t(`is away when it ${what}: ${tries} tries`, async () => {
      const { error } = await failure(ask(reply))
      assert.instance(error, LlmUnavailable)
      assert.is(server.asked.length, tries)
    })
  }

  t('that points elsewhere has nobody follow, so that its key stays here', async () => {
    const other = await startLlm()
    other.will(says('5'))
    const { error } = await failure(ask(refuses(308, { location: `${other.url}/chat/completions` })))
    assert.instance(error, LlmUnavailable)
    assert.is(other.asked.length, 0)
    await other.end()
  })

  t('that wants a long pause has the caller told of it, and not of an endless one', async () => {
    const { error } = await failure(ask(refuses(429, { 'retry-after': '120' })))
    assert.is((error as LlmUnavailable).retryAfterSeconds, 120)
    const odd = await failure(ask(refuses(429, { 'retry-after': '1e12' })))
    assert.is((odd.error as LlmUnavailable).retryAfterSeconds, 3600)
  })

  t('that was away for a moment is asked again', async () => {
    assert.is(await ask(refuses(503, { 'retry-after': '0' }), breaks, says('5')), 5)
  })

  for (const [what, reply] of [
    ['hangs', hangs],
    ['drips', drips],
  ] as const) {
    t(`that ${what} is left at the deadline`, async () => {
      const { error, tookMs } = await failure(ask(reply))
      assert.instance(error, LlmUnavailable)
      assert.ok(tookMs > TIMEOUT_MS - 50, `${tookMs} ms`)
      assert.is(server.asked.length, 1)
    })
  }

  t('that nobody listens for is away', async () => {
    const gone = await startLlm()
    await gone.end()
    assert.instance((await failure(llmOf(gone.url).ask(QUESTION, isFive))).error, LlmUnavailable)
  })

  t('has at most 32 questions of a process at once', async () => {
    server.will(hangs)
    const llm = llmOf(server.url)
    const asks = Array.from({ length: 40 }, (_, n) => failure(llm.ask({ ...QUESTION, account: `a${n}` }, isFive)))
    const all = await Promise.all(asks)
    assert.is(all.filter(({ error }) => error instanceof LlmUnavailable).length, 40)
    assert.is(server.asked.length, 32)
    server.will(says('5'))
    assert.is(await llm.ask(QUESTION, isFive), 5)
  })

  t('has at most 4 questions of an account at once, and goes on with those of others', async () => {
    server.will(hangs)
    const llm = llmOf(server.url)
    const own = Array.from({ length: 6 }, () => failure(llm.ask(QUESTION, isFive)))
    const refused = await Promise.all(own.slice(4))
    assert.ok(refused.every(({ error }) => /4 questions of yours/.test((error as Error).message)))
    const other = failure(llm.ask({ ...QUESTION, account: 'other' }, isFive))
    await Promise.all([...own, other])
    assert.is(server.asked.length, 5)
    server.will(says('5'))
    assert.is(await llm.ask(QUESTION, isFive), 5)
  })

  t('gets pictures as parts of a message, and says so when it takes none', async () => {
    const content = [
      { type: 'text' as const, text: 'What is it?' },
      { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,AAAA' } },
    ]
    const seen = { ...QUESTION, messages: [{ role: 'user' as const, content }] }
    server.will(says('5'))
    assert.is(await llmOf(server.url).ask(seen, isFive), 5)
    assert.equal(server.asked[0]?.body.messages[1]?.content as unknown, content)
    server.will(refuses(400))
    const { error } = await failure(llmOf(server.url).ask(seen, isFive))
    assert.match((error as Error).message, /takes no pictures/)
    assert.not.match(((await failure(llmOf(server.url).ask(QUESTION, isFive))).error as Error).message, /pictures/)
  })

  t('may have its answer judged elsewhere, and is told why it was no use', async () => {
    server.will(says('4'), says('5'))
    assert.is(await llmOf(server.url).ask(QUESTION, async (answer) => isFive(answer)), 5)
    await failure(llmOf(server.url).ask(QUESTION, async () => Promise.reject(new Error('the judge is away')))).then(
      ({ error }) => assert.is((error as Error).message, 'the judge is away'),
    )
  })

  t('is asked nothing by a process that leaves', async () => {
    server.will(says('5'))
    const llm = llmOf(server.url)
    llm.leave()
    assert.instance((await failure(llm.ask(QUESTION, isFive))).error, LlmUnavailable)
    assert.is(server.asked.length, 0)
  })

  t('leaves neither key nor question nor answer in the log', () => {
    assert.ok(logged.length > 5)
    assert.not.match(JSON.stringify(logged), /sk-secret|Which one|Gladly/)
  })
})
