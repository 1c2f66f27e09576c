import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { Cancellation } from '../../src/kernel/cancellation.ts'
import { createMediaProvider } from '../../src/providers/create-provider.ts'
import type { MediaOperation } from '../../src/providers/media/media-operation.ts'
import { failureOf } from '../upstreams/call-provider.ts'
import { jobCall, mediaCall } from '../upstreams/media/media-call.ts'
import { startVendorServer, type VendorServer } from '../upstreams/media/vendor-server.ts'
import { IMAGE_CASES } from './image-cases.ts'
import type { MediaCase } from './media-case.ts'
import { VIDEO_CASES } from './video-cases.ts'

describe.each([...IMAGE_CASES, ...VIDEO_CASES])('$name', (mediaCase) => {
  let server: VendorServer

  beforeAll(async () => {
    server = await startVendorServer(mediaCase.wire)
  })
  afterAll(async () => {
    await server.close()
  })
  beforeEach(() => {
    server.requests.length = 0
    server.phase = 'done'
  })

  const connect = (...apiKeys: string[]) =>
    operationOf(mediaCase, { apiKeys, baseUrl: server.origin + mediaCase.basePath })
  const start = (operation: MediaOperation<never>) =>
    operation.start(mediaCall(mediaCase.work as never, mediaCase.upstreamModel))
  const startJob = async (operation: MediaOperation<never>) => {
    const started = await start(operation)
    if (started.kind !== 'started') throw new Error('expected a job')
    return started.job
  }
  const lookAgain = async (phase: VendorServer['phase']) => {
    const job = await startJob(connect(mediaCase.key(1)))
    server.phase = phase
    const other = connect(mediaCase.key(1))
    return other.check?.(jobCall(job, mediaCase.upstreamModel)) ?? Promise.reject(new Error('cannot check'))
  }

  if (mediaCase.isJob) {
    test('a job is found by another process, runs, and completes', async () => {
      const running = await lookAgain('running')
      expect(running.kind).toBe('running')
      const done = await lookAgain('done')
      expect(done).toMatchObject({
        kind: 'done',
        output: { files: [{ kind: 'url' }] },
      })
    })

    test('a failed job is a failure of the upstream', async () => {
      const failure = await failureOf(lookAgain('failed'))
      expect(failure).toMatchObject({ failure: 'status', status: 502, hasJobEnded: true, isRetryable: true })
    })

    test('refused content is an error of the request', async () => {
      const failure = await failureOf(lookAgain('refused'))
      expect(failure).toMatchObject({
        failure: 'status',
        status: 422,
        upstreamCode: 'content_policy_violation',
        hasJobEnded: true,
        isRetryable: false,
      })
    })

    test('a job that the vendor no longer knows is 404', async () => {
      expect(await failureOf(lookAgain('lost'))).toMatchObject({ failure: 'status', status: 404 })
    })

    test('a throttled poll says when to poll again, and the job continues', async () => {
      const operation = connect(mediaCase.key(1))
      const job = await startJob(operation)
      server.replyNext({ status: 429, headers: { 'retry-after': '7' }, body: mediaCase.throttledBody })
      const look = operation.check?.(jobCall(job, mediaCase.upstreamModel))
      const failure = await failureOf(look ?? Promise.resolve())
      expect(failure).toMatchObject({ status: 429, retryAfterSeconds: 7 })
      expect(failure.hasJobEnded).toBeUndefined()
    })

    test('a job is polled with the key that submitted it', async () => {
      const keys = [mediaCase.key(1), mediaCase.key(2)]
      const job = await startJob(connect(...keys))
      const submitted = mediaCase.readKey(server.requests.at(-1))
      for (const order of [keys, keys.toReversed()]) {
        await connect(...order).check?.(jobCall(job, mediaCase.upstreamModel))
        expect(mediaCase.readKey(server.requests.at(-1))).toEqual(submitted)
      }
      expect(JSON.stringify(job)).not.toContain(mediaCase.key(1))
    })

    test('a cancellation reaches the vendor if it supports that, and an ended job is not an error', async () => {
      const operation = connect(mediaCase.key(1))
      const job = await startJob(operation)
      server.phase = 'running'
      const before = server.requests.length
      await operation.cancel?.(jobCall(job, mediaCase.upstreamModel))
      const sent = server.requests.slice(before).map(({ method, path }) => `${method} ${path}`)
      expect(sent).toEqual(mediaCase.cancelRequest === undefined ? [] : [mediaCase.cancelRequest])
      server.phase = 'done'
      await operation.cancel?.(jobCall(job, mediaCase.upstreamModel))
    })
  } else {
    test('the work is done when the call returns', async () => {
      const done = await start(connect(mediaCase.key(1)))
      expect(done).toMatchObject({
        kind: 'done',
        output: { files: [{ kind: 'bytes', contentType: 'image/png' }] },
      })
    })

    test('refused content is an error of the request for direct work', async () => {
      server.phase = 'refused'
      const failure = await failureOf(start(connect(mediaCase.key(1))))
      expect(failure).toMatchObject({ failure: 'status', isRetryable: false })
      expect([400, 422]).toContain(failure.status)
    })
  }

  test('a failing vendor is a failure of the upstream', async () => {
    server.replyNext({ status: 503, body: mediaCase.throttledBody })
    const failure = await failureOf(start(connect(mediaCase.key(1))))
    expect(failure).toMatchObject({ failure: 'status', status: 503, isRetryable: true })
  })

  test('a throttled submission is tried with another key, and says when to try again', async () => {
    const throttled = { status: 429, headers: { 'retry-after': '7' }, body: mediaCase.throttledBody }
    server.replyNext(throttled)
    await start(connect(mediaCase.key(1), mediaCase.key(2)))
    server.replyNext(throttled)
    const failure = await failureOf(start(connect(mediaCase.key(1))))
    expect(failure).toMatchObject({ status: 429, retryAfterSeconds: 7 })
  })

  test.skipIf(mediaCase.acceptsAnything)('an answer that is not of the wire is invalid', async () => {
    server.replyNext({ body: { hello: 'there' } })
    expect(await failureOf(start(connect(mediaCase.key(1))))).toMatchObject({ failure: 'invalid_answer' })
  })

  test('a cancelled call rejects with its reason', async () => {
    const cancellation = new Cancellation()
    cancellation.cancel(new Error('not wanted any more'))
    const call = { ...mediaCall(mediaCase.work as never, mediaCase.upstreamModel), cancellation }
    await expect(connect(mediaCase.key(1)).start(call)).rejects.toThrow('not wanted any more')
  })

  test('the request has the requested parameters', async () => {
    await start(connect(mediaCase.key(1)))
    const [request] = server.requests
    expect(`${request?.method} ${request?.path}`).toBe(mediaCase.submitRequest)
    expect(request?.body).toEqual(mediaCase.submitBody)
  })
})

function operationOf(
  { provider, member }: MediaCase,
  options: { apiKeys: string[]; baseUrl: string },
): MediaOperation<never> {
  const operation = createMediaProvider(provider, options)?.[member]
  if (operation === undefined) throw new Error(`no ${member} here`)
  return operation
}
