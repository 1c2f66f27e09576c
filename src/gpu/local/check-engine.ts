import { request } from 'node:http'
import type { EnginePlan } from './engine-plan.ts'

const HEALTH_MS = 5_000
const WARM_UP_MS = 300_000
const BODY_BYTES_MAX = 1024 * 1024

interface Question {
  readonly port: number
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** Returns whether the engine answers its health check. */
export async function checkHealth({ port, healthPath }: EnginePlan, signal: AbortSignal): Promise<boolean> {
  return isSuccess(await ask({ port, method: 'GET', path: healthPath, timeoutMs: HEALTH_MS, signal }))
}

/** Returns whether the engine is ready: it is healthy and, if `warmsUp` is set, has answered a chat request. */
export async function checkEngine(plan: EnginePlan, signal: AbortSignal): Promise<boolean> {
  const { port, warmsUp, model } = plan
  const isHealthy = await checkHealth(plan, signal)
  if (!isHealthy || !warmsUp) return isHealthy
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 1 })
  const path = '/v1/chat/completions'
  const status = await ask({ port, method: 'POST', path, body, timeoutMs: WARM_UP_MS, signal })
  // An engine without chat, such as one for embeddings, answers 4xx and is ready too.
  return isSuccess(status) || (status >= 400 && status < 500)
}

/** Returns whether the status is 2xx. A redirect is not a success. */
function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

/** Returns the status of the response, or 0 if there was no complete response. */
function ask({ port, method, path, body, timeoutMs, signal }: Question): Promise<number> {
  return new Promise((resolve) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' }
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false, signal: limit })
    sent.on('error', () => resolve(0))
    sent.on('response', (response) => {
      const { statusCode = 0 } = response
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > BODY_BYTES_MAX) response.destroy()
      })
      response.on('error', () => resolve(0))
      response.on('close', () => resolve(response.complete ? statusCode : 0))
    })
    sent.end(body)
  })
}
