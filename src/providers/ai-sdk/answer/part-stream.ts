import type { LanguageModelV4StreamPart, LanguageModelV4StreamResult } from '@ai-sdk/provider'

import { UpstreamError } from '../../failures/upstream-error.ts'
import { toFinishReason } from './finish-reason.ts'
import type { UpstreamExchange } from '../exchange/upstream-exchange.ts'

/** The parts of one vendor stream, in batches of parts that arrived together. */
export interface PartStream {
  batches(): AsyncGenerator<LanguageModelV4StreamPart[]>
  cancel(): void
}

export interface PartStreamContext {
  readonly provider: string
  readonly exchange: UpstreamExchange
  readonly toError: (error: unknown) => UpstreamError
}

const BATCH_PARTS_MAX = 256
const LINGER_MS = 1_000

// Parts that precede the model's output. A failure up to here can still be retried elsewhere.
const PREAMBLE: ReadonlySet<LanguageModelV4StreamPart['type']> = new Set([
  'stream-start',
  'response-metadata',
  'custom',
  'ping',
  'raw',
  'text-start',
  'reasoning-start',
])

/** Resolves with the model's first output, so that a refusal is an error and not a broken stream. */
export async function openPartStream(
  { stream }: LanguageModelV4StreamResult,
  { provider, exchange, toError }: PartStreamContext,
): Promise<PartStream> {
  const reader = stream.getReader()
  const opening: LanguageModelV4StreamPart[] = []
  let pending: Promise<LanguageModelV4StreamPart> | undefined
  let isFinished = false

  async function read(): Promise<LanguageModelV4StreamPart> {
    const next = await reader.read().catch((error: unknown) => {
      throw exchange.failure ?? toError(error)
    })
    if (next.done) {
      throw (
        exchange.failure ??
        new UpstreamError(`${provider} ended its stream early`, { failure: 'cut', provider })
      )
    }
    if (next.value.type === 'error') throw exchange.failure ?? toError(next.value.error)
    if (next.value.type === 'finish') isFinished = true
    return next.value
  }

  function cancel(): void {
    exchange.cancel()
    void reader.cancel().catch(() => {})
  }

  async function* batches(): AsyncGenerator<LanguageModelV4StreamPart[]> {
    try {
      while (!isFinished || opening.length > 0 || pending !== undefined) {
        const batch = opening.length > 0 ? opening.splice(0) : [await (pending ?? read())]
        pending = undefined
        const turn = nextTurn()
        while (!isFinished && batch.length < BATCH_PARTS_MAX) {
          pending = read()
          // An error is thrown by the next read, after the parts that preceded it were delivered.
          const more = await Promise.race([pending.catch(() => undefined), turn])
          if (more === undefined) break
          pending = undefined
          batch.push(more)
        }
        yield batch
      }
    } finally {
      if (isFinished) void drain(reader, cancel)
      else cancel()
    }
  }

  let first = await read()
  while (PREAMBLE.has(first.type) && opening.length < BATCH_PARTS_MAX) {
    opening.push(first)
    first = await read()
  }
  if (first.type === 'finish') {
    toFinishReason(provider, first.finishReason, { isEmpty: true, metadata: first.providerMetadata })
  }
  opening.push(first)
  return { batches, cancel }
}

function nextTurn(): Promise<undefined> {
  return new Promise((resolve) => {
    setImmediate(resolve, undefined)
  })
}

// Reading to the end makes the connection reusable. If the upstream does not end the stream in time, the connection is closed.
async function drain(
  reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>,
  cancel: () => void,
): Promise<void> {
  const timer = setTimeout(cancel, LINGER_MS)
  timer.unref()
  try {
    while (!(await reader.read()).done);
  } catch {
    // Errors after the last part are ignored.
  } finally {
    clearTimeout(timer)
  }
}
