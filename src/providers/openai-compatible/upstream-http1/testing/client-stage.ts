import { expect, onTestFinished, vi } from 'vitest'
import { createHttp1Client, type Http1Client, type Http1ClientOptions } from '../http1-client.ts'
import type { Http1Error } from '../http1-error.ts'
import { CollectedExchange } from './collect-answer.ts'
import { plainAnswer, startRawUpstream, type RawRequest, type RawUpstream } from './raw-upstream.ts'

interface Stage {
  readonly upstream: RawUpstream
  readonly client: Http1Client
  readonly ask: (body?: string) => CollectedExchange
}

/** Starts an upstream and a client for one test. */
export async function stage(
  answer: (request: RawRequest) => void,
  options: Partial<Http1ClientOptions> = {},
): Promise<Stage> {
  const upstream = await startRawUpstream(answer)
  onTestFinished(() => upstream.close())
  const client = useClient({ origin: upstream.origin, ...options })
  return { upstream, client, ask: (body = '{}') => new CollectedExchange(client, { body }) }
}

export function useClient(options: Partial<Http1ClientOptions> & { origin: string }): Http1Client {
  const client = createHttp1Client({
    connectionsMax: 10,
    keepAliveMs: 30_000,
    connectTimeoutMs: 5000,
    ...options,
  })
  onTestFinished(() => client.close())
  return client
}

export function echo({ socket, body }: RawRequest): void {
  socket.write(plainAnswer(body))
}

/** Stops the timers of clients that this test creates from now on. The returned function advances them. */
export function holdTicks(): (durationMs: number) => void {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  return (durationMs) => void vi.advanceTimersByTime(durationMs)
}

/** Resolves when the upstream's connection with this index has closed. */
export function closed(upstream: RawUpstream, index: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = upstream.sockets[index]
    if (socket === undefined || socket.destroyed) resolve()
    else socket.once('close', () => resolve())
  })
}

export function failed(failure: Http1Error['failure'], message: RegExp): unknown {
  return expect.objectContaining({
    name: 'Http1Error',
    failure,
    message: expect.stringMatching(message),
  })
}
