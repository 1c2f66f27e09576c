import type { UpstreamTimeouts } from '../../provider.ts'
import { UpstreamError, type UpstreamErrorDetails } from '../../failures/upstream-error.ts'
import type { Fault } from '../request/directives.ts'
import type { Sleep } from '../sleep.ts'

export interface FaultContext {
  readonly timeouts: UpstreamTimeouts
  readonly sleep: Sleep
  readonly signal: AbortSignal
}

const GARBAGE = Buffer.from('\u0000not JSON{"choices":[')
const ERROR_BODY = Buffer.from(
  JSON.stringify({
    error: { message: 'The sandbox was told to fail.', type: 'server_error', param: null, code: null },
  }),
)
const ENDLESS_CHUNKS_MAX = 10_000_000

/** Simulates a slow upstream: waits for the given latency, or until the first-byte timeout. */
export async function delayAnswer(
  latencyMs: number,
  { timeouts, sleep, signal }: FaultContext,
): Promise<void> {
  if (latencyMs === 0) return
  await sleep(Math.min(latencyMs, timeouts.firstByteMs), signal)
  if (latencyMs > timeouts.firstByteMs) throw timedOut(`no answer within ${timeouts.firstByteMs} ms`)
}

/** Fails before the answer begins, if the fault is of that kind. */
export async function failAtOnce(fault: Fault, context: FaultContext): Promise<void> {
  switch (fault.kind) {
    case 'error': {
      const { status, retryAfterSeconds, code } = fault
      throw fail(`answered ${status}`, {
        failure: 'status',
        isInjected: true,
        status,
        upstreamMessage: `The sandbox was told to answer ${status}.`,
        ...(code === null ? {} : { upstreamCode: code }),
        ...(retryAfterSeconds === null ? {} : { retryAfterSeconds }),
      })
    }
    case 'html':
      throw fail('answered with an HTML page', {
        ...(fault.status === null
          ? { failure: 'invalid_answer' }
          : { failure: 'status', status: fault.status }),
        upstreamMessage: '<html><body><h1>Bad gateway</h1></body></html>',
      })
    case 'refuse':
      throw fail('refused the connection', { failure: 'connect' })
    case 'hang':
      if (fault.afterChunks !== null) return
      await context.sleep(context.timeouts.firstByteMs, context.signal)
      throw timedOut(`no answer within ${context.timeouts.firstByteMs} ms`)
    case 'cut':
      if (fault.afterChunks === null) throw cut()
      return
    case 'empty':
    case 'endless':
    case 'huge-line':
    case 'end':
    case 'garbage':
    case 'error-body':
  }
}

/** Applies a fault to an answer that is not streamed. */
export async function damagePayload(fault: Fault, payload: Buffer, context: FaultContext): Promise<Buffer> {
  switch (fault.kind) {
    case 'garbage':
      return GARBAGE
    case 'error-body':
      return ERROR_BODY
    case 'empty':
      return Buffer.alloc(0)
    case 'cut':
    case 'end':
      throw cut()
    case 'endless':
      throw fail('answered with more than fits', { failure: 'invalid_answer' })
    case 'huge-line':
      return padPayload(payload, fault.sizeBytes)
    case 'hang':
      await context.sleep(context.timeouts.idleMs, context.signal)
      throw timedOut(`silent for ${context.timeouts.idleMs} ms`)
    case 'error':
    case 'html':
    case 'refuse':
      return payload
  }
}

/** Applies a fault to a stream. `writeText` creates a valid chunk for the faults that send too much. */
export async function* damageStream(
  fault: Fault,
  batches: AsyncGenerator<Buffer[], void>,
  writeText: (text: string) => Buffer,
  context: FaultContext,
): AsyncGenerator<Buffer[], void> {
  if (fault.kind === 'empty') return
  const soundMax = 'afterChunks' in fault ? (fault.afterChunks ?? 0) : 1
  let sent = 0
  for await (const batch of batches) {
    const sound = batch.slice(0, soundMax - sent)
    sent += sound.length
    if (sound.length > 0) yield sound
    if (sent < soundMax) continue
    if (fault.kind !== 'huge-line') break
    yield [writeText('x'.repeat(fault.sizeBytes))]
    if (sound.length < batch.length) yield batch.slice(sound.length)
    yield* batches
    return
  }
  yield* breakStream(fault, writeText, context)
}

async function* breakStream(
  fault: Fault,
  writeText: (text: string) => Buffer,
  { timeouts, sleep, signal }: FaultContext,
): AsyncGenerator<Buffer[], void> {
  switch (fault.kind) {
    case 'hang':
      await sleep(timeouts.idleMs, signal)
      throw timedOut(`silent for ${timeouts.idleMs} ms`)
    case 'cut':
      throw cut()
    case 'garbage':
      yield [GARBAGE]
      return
    case 'error-body':
      yield [ERROR_BODY]
      return
    case 'endless':
      for (let sent = 0; sent < ENDLESS_CHUNKS_MAX; sent += 1) {
        await sleep(1, signal)
        yield [writeText(' again')]
      }
      return
    case 'huge-line':
    case 'end':
    case 'empty':
    case 'error':
    case 'html':
    case 'refuse':
  }
}

// Spaces after a JSON object change only its size.
function padPayload(payload: Buffer, sizeBytes: number): Buffer {
  return Buffer.concat([payload, Buffer.alloc(Math.max(0, sizeBytes - payload.length), ' ')])
}

function cut(): UpstreamError {
  return fail('the connection ended in the middle of the answer', { failure: 'cut' })
}

function timedOut(what: string): UpstreamError {
  return fail(what, { failure: 'timeout' })
}

function fail(what: string, details: Omit<UpstreamErrorDetails, 'provider'>): UpstreamError {
  return new UpstreamError(`sandbox: ${what}`, { ...details, provider: 'sandbox' })
}
