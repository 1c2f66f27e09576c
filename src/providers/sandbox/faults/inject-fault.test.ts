import { Cancellation } from '../../../kernel/cancellation.ts'
import { expect, test } from 'vitest'
import { createSandboxProvider } from '../sandbox.ts'
import { call, chatOnce, chatStream, joinDeltas, userMessage } from '../testing/sandbox-client.ts'

const told = (directive: string, rest: object = {}) => ({
  messages: [userMessage(`Hi [[sandbox:${directive}]]`)],
  ...rest,
})

/** Creates a provider whose sleeps return immediately and are recorded, so that no test waits. */
function providerInNoTime() {
  const sleptMs: number[] = []
  const provider = createSandboxProvider({
    sleep: async (durationMs) => {
      sleptMs.push(durationMs)
    },
  })
  return { provider, sleptMs }
}

/** Reads a stream; returns its payloads and how it ended. */
async function drain(directive: string, chunksMax = 1000) {
  const answer = await call(told(directive, { stream: true }), providerInNoTime())
  if (answer.kind !== 'stream') throw new Error('answered at once')
  const payloads: string[] = []
  try {
    for await (const batch of answer.batches) {
      payloads.push(...batch.map(String))
      if (payloads.length > chunksMax) break
    }
  } catch (error) {
    return { payloads, error, isTerminated: answer.isTerminated() }
  }
  return { payloads, error: null, isTerminated: answer.isTerminated() }
}

test('the answer waits for the latency', async () => {
  const { provider, sleptMs } = providerInNoTime()
  await chatOnce(told('latency ms=500'), { provider })
  expect(sleptMs).toEqual([500])
})

test('latency beyond the first-byte timeout is a timeout', async () => {
  const { provider, sleptMs } = providerInNoTime()
  const answer = chatOnce(told('latency ms=5000'), { provider })
  await expect(answer).rejects.toMatchObject({ details: { failure: 'timeout', provider: 'sandbox' } })
  expect(sleptMs).toEqual([1000])
})

test.for([
  ['error status=503 retry_after=2', { failure: 'status', status: 503, retryAfterSeconds: 2 }],
  ['error status=400 code=bad', { failure: 'status', status: 400, upstreamCode: 'bad' }],
  ['refuse', { failure: 'connect' }],
  ['html', { failure: 'invalid_answer' }],
  ['html status=502', { failure: 'status', status: 502 }],
  ['hang', { failure: 'timeout' }],
  ['cut', { failure: 'cut' }],
] as const)('%s fails before the first byte, streamed or not', async ([directive, details]) => {
  for (const stream of [false, true]) {
    const answer = call(told(directive, { stream }), providerInNoTime())
    await expect(answer).rejects.toMatchObject({
      name: 'UpstreamError',
      details: { ...details, provider: 'sandbox' },
    })
  }
})

test('a hanging answer ends when it is cancelled', async () => {
  const cancellation = new Cancellation()
  const hanging = call(told('hang'), {
    cancellation,
    timeouts: { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 },
  })
  cancellation.cancel(new Error('enough'))
  await expect(hanging).rejects.toThrow('enough')
})

test('a stream hangs after the given number of chunks', async () => {
  const { payloads, error } = await drain('hang after=3')
  expect(payloads).toHaveLength(3)
  expect(error).toMatchObject({ details: { failure: 'timeout' } })
})

test('a stream is cut after the given number of chunks', async () => {
  const { payloads, error, isTerminated } = await drain('cut after=3')
  expect(payloads).toHaveLength(3)
  expect(error).toMatchObject({ details: { failure: 'cut' } })
  expect(isTerminated).toBe(false)
})

test('a stream ends without an end marker', async () => {
  expect(await drain('end after=2')).toMatchObject({
    payloads: { length: 2 },
    error: null,
    isTerminated: false,
  })
  expect(await drain('empty')).toEqual({ payloads: [], error: null, isTerminated: false })
})

test('a stream becomes invalid after the given number of chunks', async () => {
  const { payloads, isTerminated } = await drain('garbage after=2')
  expect(payloads).toHaveLength(3)
  expect(() => JSON.parse(payloads[2] ?? '') as unknown).toThrow('JSON')
  expect(isTerminated).toBe(false)
})

test('an error object replaces the answer', async () => {
  const { payloads } = await drain('error-body')
  expect(payloads.map((payload) => JSON.parse(payload) as unknown)).toMatchObject([
    { error: { type: 'server_error' } },
  ])
  expect(await chatOnce(told('error-body'))).toMatchObject({ error: { type: 'server_error' } })
})

test('an endless stream continues until its reader stops', async () => {
  const { payloads, error } = await drain('endless', 2000)
  expect(payloads.length).toBeGreaterThan(2000)
  expect(error).toBeNull()
})

test('a huge line is valid, and the answer continues after it', async () => {
  const chunks = await chatStream(told('huge-line', { stream: true }))
  expect(joinDeltas(chunks)[0]?.content?.length).toBeGreaterThan(10 * 1024 * 1024)
  expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop')
  const answer = await call(told('huge-line bytes=5000'))
  expect(answer.kind === 'complete' && answer.payload.length).toBe(5000)
})

test('complete answers can be invalid, empty, cut or too long', async () => {
  const garbage = await call(told('garbage'))
  expect(() => garbage.kind === 'complete' && (JSON.parse(garbage.payload.toString()) as unknown)).toThrow(
    'JSON',
  )
  expect(await call(told('empty'))).toEqual({ kind: 'complete', payload: Buffer.alloc(0) })
  await expect(call(told('end'))).rejects.toMatchObject({ details: { failure: 'cut' } })
  await expect(call(told('endless'))).rejects.toMatchObject({ details: { failure: 'invalid_answer' } })
  await expect(call(told('hang after=1'), providerInNoTime())).rejects.toMatchObject({
    details: { failure: 'timeout' },
  })
})

test('usage can be omitted', async () => {
  expect(await chatOnce(told('usage none'))).not.toHaveProperty('usage')
  const chunks = await chatStream(
    told('usage none', { stream: true, stream_options: { include_usage: true } }),
  )
  expect(chunks.at(-1)?.choices).toHaveLength(1)
})

test('an echo is exact, and so is a number of tokens', async () => {
  const echo = await chatOnce({ messages: [userMessage('[[sandbox:echo {"a": 1}]]')] })
  expect(echo.choices[0]?.message.content).toBe('{"a": 1}')
  const counted = await chatOnce(told('tokens n=200'))
  expect(counted.usage?.completion_tokens).toBe(200)
  expect(counted.choices[0]?.finish_reason).toBe('stop')
  const cut = await chatOnce(told('tokens n=200', { max_tokens: 50 }))
  expect(cut.usage?.completion_tokens).toBe(50)
  expect(cut.choices[0]?.finish_reason).toBe('length')
})

test('a fault with times occurs that often and then lets the request succeed', async () => {
  const provider = createSandboxProvider()
  const attempt = (directive: string, requestId: string) => call(told(directive), { provider, requestId })
  await expect(attempt('error status=500 times=2', 'a')).rejects.toThrow('500')
  await expect(attempt('error status=500 times=2', 'a')).rejects.toThrow('500')
  await expect(attempt('error status=500 times=2', 'a')).resolves.toMatchObject({ kind: 'complete' })
  await expect(attempt('error status=500 times=2', 'b')).rejects.toThrow('500')

  await expect(attempt('error status=429 times=1 key=shared', 'c')).rejects.toThrow('429')
  await expect(attempt('error status=429 times=1 key=shared', 'd')).resolves.toMatchObject({
    kind: 'complete',
  })
})
