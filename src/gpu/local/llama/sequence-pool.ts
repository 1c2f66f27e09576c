import type { LlamaContext, LlamaContextSequence, Token } from 'node-llama-cpp'
import { EngineError } from './engine-error.ts'

/** The sequences of a context. Each serves one request at a time. Other requests wait in a queue. */
export interface SequencePool {
  /**
   * Runs the work on the free sequence with the longest cached prefix of the prompt. If none is free, it waits for the next
   * one. Throws if the queue is full or the signal aborts.
   */
  use<Result>(
    prompt: readonly Token[],
    signal: AbortSignal,
    work: (sequence: LlamaContextSequence) => Promise<Result>,
  ): Promise<Result>
  /** Returns the total number of input and output tokens. */
  countTokens(): { readonly input: number; readonly output: number }
  readonly inUse: number
  readonly waiting: number
}

interface Waiter {
  readonly prompt: readonly Token[]
  take(sequence: LlamaContextSequence): void
}

const WAITING_MAX = 256

export function createSequencePool(context: LlamaContext): SequencePool {
  const free = Array.from({ length: context.totalSequences }, () => context.getSequence())
  const all = [...free]
  const waiters: Waiter[] = []

  const takeFree = (prompt: readonly Token[]): LlamaContextSequence | undefined => {
    const shared = free.map((sequence) => countShared(sequence.contextTokens, prompt))
    // Among equals, take the one with the fewest cached tokens, because later requests may reuse the others.
    const [best] = free
      .map((sequence, index) => ({ index, shared: shared[index] ?? 0, held: sequence.nextTokenIndex }))
      .toSorted((one, other) => other.shared - one.shared || one.held - other.held)
    return best === undefined ? undefined : free.splice(best.index, 1)[0]
  }
  const acquire = (prompt: readonly Token[], signal: AbortSignal): Promise<LlamaContextSequence> => {
    signal.throwIfAborted()
    const sequence = takeFree(prompt)
    if (sequence !== undefined) return Promise.resolve(sequence)
    if (waiters.length >= WAITING_MAX)
      return Promise.reject(new EngineError(503, 'Too many requests are waiting for this engine.'))
    return new Promise((resolve, reject) => {
      const leave = () => {
        const place = waiters.indexOf(waiter)
        if (place >= 0) waiters.splice(place, 1)
        reject(signal.reason)
      }
      const waiter: Waiter = {
        prompt,
        take: (given) => {
          signal.removeEventListener('abort', leave)
          resolve(given)
        },
      }
      signal.addEventListener('abort', leave, { once: true })
      waiters.push(waiter)
    })
  }
  const release = (sequence: LlamaContextSequence): void => {
    const next = waiters.shift()
    if (next === undefined) free.push(sequence)
    else next.take(sequence)
  }

  return {
    use: async (prompt, signal, work) => {
      const sequence = await acquire(prompt, signal)
      try {
        return await work(sequence)
      } finally {
        release(sequence)
      }
    },
    countTokens: () => {
      const meters = all.map(({ tokenMeter }) => tokenMeter.getState())
      return {
        input: meters.reduce((sum, { usedInputTokens }) => sum + usedInputTokens, 0),
        output: meters.reduce((sum, { usedOutputTokens }) => sum + usedOutputTokens, 0),
      }
    },
    get inUse() {
      return all.length - free.length
    },
    get waiting() {
      return waiters.length
    },
  }
}

function countShared(held: readonly Token[], prompt: readonly Token[]): number {
  const length = Math.min(held.length, prompt.length)
  for (let index = 0; index < length; index += 1) if (held[index] !== prompt[index]) return index
  return length
}
