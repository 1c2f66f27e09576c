import type { FastifyInstance, FastifyRequest, FastifyReply } from 'fastify'
import { ClientDisconnected } from './request-state.ts'

/** How a request ended, for the access log and the metrics. */
export interface FinishedExchange {
  readonly request: FastifyRequest
  /** The pattern of the route, or `unmatched`. */
  readonly route: string
  readonly status: number
  readonly durationMs: number
  readonly isDisconnected: boolean
}

interface RequestObserver {
  started(route: string): void
  finished(exchange: FinishedExchange): void
}

export interface RequestsInFlight {
  count(): number
  /** Resolves when none is left. */
  drained(): Promise<void>
  abortAll(reason: Error): void
}

/** Follows every request from its first header to its last byte, or to the client's disappearance. */
export function observeRequests(app: FastifyInstance, observer: RequestObserver): RequestsInFlight {
  const inFlight = new Set<FastifyRequest>()
  let onDrained: (() => void) | null = null

  app.decorateRequest('state')
  app.addHook('onRequest', (request, reply, done) => {
    request.state = {
      startedMs: performance.now(),
      caller: null,
      inference: null,
      span: null,
      abortController: null,
    }
    inFlight.add(request)
    const route = routeOf(request)
    observer.started(route)
    // `close` follows `finish` and also comes without it: one listener sees both endings.
    reply.raw.once('close', () => {
      inFlight.delete(request)
      finish(request, reply, route)
      if (inFlight.size === 0) onDrained?.()
    })
    done()
  })

  const finish = (request: FastifyRequest, reply: FastifyReply, route: string): void => {
    const isDisconnected = !reply.raw.writableFinished
    const durationMs = performance.now() - request.state.startedMs
    const report = () =>
      observer.finished({ request, route, status: reply.raw.statusCode, durationMs, isDisconnected })
    if (!isDisconnected) {
      report()
      return
    }
    request.state.abortController?.abort(new ClientDisconnected('the client disconnected'))
    // What was under way ends with the abort and still has to say what it used.
    setImmediate(report)
  }

  return {
    count: () => inFlight.size,
    drained: () =>
      inFlight.size === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            onDrained = resolve
          }),
    abortAll: (reason) => {
      for (const request of inFlight) request.state.abortController?.abort(reason)
    },
  }
}

function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unmatched'
}
