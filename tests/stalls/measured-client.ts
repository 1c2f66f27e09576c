import { request } from 'node:http'
import { parentPort, Worker } from 'node:worker_threads'
import { threadMs } from './reference-work.ts'

/** A request that another thread sends, so that only the gateway's work is measured on this one. */
interface SentRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

interface Measured {
  readonly status: number
  readonly text: string
  /** The processor time of the longest turn of the event loop while the request ran. */
  readonly longestTurnMs: number
}

export interface MeasuredClient {
  send(request: SentRequest): Promise<Measured>
  close(): Promise<void>
}

/** Starts a thread that sends requests to the gateway of this thread, and measures how long each of them holds the event loop. */
export function startMeasuredClient(): MeasuredClient {
  const worker = new Worker(new URL(import.meta.url))
  return {
    send: async (sent) => {
      const stop = measureTurns()
      const answered = new Promise<{ status: number; text: string }>((resolve) => {
        worker.once('message', resolve)
      })
      worker.postMessage(sent, [])
      const { status, text } = await answered
      return { status, text, longestTurnMs: stop() }
    },
    close: async () => {
      await worker.terminate()
    },
  }
}

/** Measures the turns of the event loop in processor time of this thread, which other load does not change. */
function measureTurns(): () => number {
  let longestMs = 0
  let lastMs = threadMs()
  let isRunning = true
  const turn = (): void => {
    const nowMs = threadMs()
    longestMs = Math.max(longestMs, nowMs - lastMs)
    lastMs = nowMs
    if (isRunning) setImmediate(turn)
  }
  setImmediate(turn)
  return () => {
    isRunning = false
    return Math.max(longestMs, threadMs() - lastMs)
  }
}

/** Some answers take long, because a worker makes what was ordered. Reading the request is over long before. */
const ANSWER_MS_MAX = 1_000

parentPort?.on('message', ({ url, method, headers, body }: SentRequest) => {
  const sending = request(url, {
    method,
    headers: { ...headers, 'content-length': body.length },
    agent: false,
  })
  let status = 0
  let text = ''
  const leaving = setTimeout(() => sending.destroy(), ANSWER_MS_MAX)
  sending.on('error', () => {})
  sending.on('close', () => {
    clearTimeout(leaving)
    parentPort?.postMessage({ status, text }, [])
  })
  sending.on('response', (response) => {
    status = response.statusCode ?? 0
    response.setEncoding('utf8').on('data', (chunk: string) => {
      if (text.length < TEXT_LENGTH_MAX) text += chunk
    })
    response.on('error', () => {})
  })
  sending.end(body)
})

/** Enough to see why a request was refused. */
const TEXT_LENGTH_MAX = 1_000
