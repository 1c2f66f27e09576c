import { Worker } from 'node:worker_threads'
import { UpstreamError } from '../../failures/upstream-error.ts'
import type { Rendering, RenderingAnswer } from './render-worker.ts'

const QUEUE_MAX = 1000
const IDLE_MS = 30_000

/** Renders in a separate thread, one file at a time, so that the event loop is not blocked. */
export interface Renderer {
  render(rendering: Rendering, signal: AbortSignal): Promise<Uint8Array>
}

interface Order {
  readonly rendering: Rendering
  readonly signal: AbortSignal
  readonly deliver: (answer: RenderingAnswer) => void
  readonly drop: (reason: unknown) => void
}

/** Starts the thread with the first order, and ends it after a period without orders. */
export function createRenderer(): Renderer {
  const waiting: Order[] = []
  let worker: Worker | null = null
  let current: Order | null = null
  let idleTimer: NodeJS.Timeout | null = null

  const stop = (): void => {
    const stopping = worker
    worker = null
    void stopping?.terminate()
  }

  const finish = (end: (order: Order) => void): void => {
    const order = current
    current = null
    if (order) end(order)
    takeNext()
  }

  const start = (): Worker => {
    const started = new Worker(new URL('render-worker.ts', import.meta.url), { execArgv: [] })
    const isCurrent = () => worker === started
    started.on('message', (answer: RenderingAnswer) => {
      if (isCurrent()) finish((order) => order.deliver(answer))
    })
    started.on('error', (error) => {
      if (!isCurrent()) return
      worker = null
      finish((order) => order.deliver({ kind: 'failed', message: String(error) }))
    })
    started.on('exit', () => {
      if (!isCurrent()) return
      worker = null
      finish((order) => order.deliver({ kind: 'failed', message: 'the encoding thread ended' }))
    })
    return started
  }

  const takeNext = (): void => {
    if (current !== null) return
    current = waiting.shift() ?? null
    if (current === null) {
      worker?.unref()
      idleTimer = setTimeout(stop, IDLE_MS).unref()
      return
    }
    if (idleTimer !== null) clearTimeout(idleTimer)
    worker ??= start()
    worker.ref()
    worker.postMessage(current.rendering, [])
  }

  const abandon = (order: Order): void => {
    order.drop(order.signal.reason)
    const place = waiting.indexOf(order)
    if (place !== -1) waiting.splice(place, 1)
    if (current !== order) return
    // A running rendering cannot be interrupted, so the thread is terminated.
    stop()
    finish(() => {})
  }

  return {
    render: (rendering, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) {
          reject(signal.reason as Error)
          return
        }
        if (waiting.length >= QUEUE_MAX) {
          reject(fail('too much is being encoded', 503))
          return
        }
        const onAbort = (): void => abandon(order)
        const order: Order = {
          rendering,
          signal,
          deliver: (answer) => {
            signal.removeEventListener('abort', onAbort)
            if (answer.kind === 'done') resolve(answer.bytes)
            else reject(fail(answer.message, 500))
          },
          drop: reject,
        }
        signal.addEventListener('abort', onAbort, { once: true })
        waiting.push(order)
        takeNext()
      }),
  }
}

function fail(message: string, status: number): UpstreamError {
  return new UpstreamError(`sandbox: ${message}`, { failure: 'status', provider: 'sandbox', status })
}
