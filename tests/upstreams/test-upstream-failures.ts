import { afterEach, describe, expect, test } from 'vitest'
import { Cancellation } from '../../src/kernel/cancellation.ts'
import { failureOf } from './call-provider.ts'
import { htmlPage, silence } from './openai-server.ts'
import type { ScriptedReply, ScriptedServer } from './scripted-server.ts'

interface FailureOptions {
  readonly server: () => ScriptedServer
  /** One complete use of the operation, with the answer read to its end. */
  readonly perform: (cancellation: Cancellation) => Promise<unknown>
  /** Returns an error as this vendor formats it. */
  readonly refusal: (status: number, message: string, headers?: Record<string, string>) => ScriptedReply
  /** The beginning of a valid answer. */
  readonly cutReply: ScriptedReply
}

/** Tests what every operation of every provider promises if its upstream fails. */
export function testUpstreamFailures(
  name: string,
  { server, perform, refusal, cutReply }: FailureOptions,
): void {
  describe(`when the upstream of ${name} fails`, () => {
    // Back to its usual replies, for the tests that run after these.
    afterEach(() => server().respondWith())

    const fail = (reply: ScriptedReply) => {
      server().respondWith(reply)
      return failureOf(perform(new Cancellation()))
    }

    test('a refused request is reported in the words of the vendor and not tried elsewhere', async () => {
      const failure = await fail(refusal(400, 'that is too long'))
      expect(failure).toMatchObject({ failure: 'status', status: 400, isRetryable: false })
      expect(failure.upstreamMessage).toContain('that is too long')
    })

    test('a rate limit has the time to wait', async () => {
      const failure = await fail(refusal(429, 'slow down', { 'retry-after': '7' }))
      expect(failure).toMatchObject({
        failure: 'status',
        status: 429,
        retryAfterSeconds: 7,
        isRetryable: true,
      })
    })

    test('an error of the vendor may be temporary', async () => {
      expect(await fail(refusal(503, 'overloaded'))).toMatchObject({ status: 503, isRetryable: true })
      expect(await fail(htmlPage(502))).toMatchObject({ status: 502, isRetryable: true })
    })

    test('a page instead of an answer is invalid', async () => {
      expect(await fail(htmlPage(200))).toMatchObject({ failure: 'invalid_answer', isRetryable: true })
    })

    test('a cut connection is reported as such', async () => {
      expect(await fail({ ...cutReply, ending: 'cut' })).toMatchObject({ failure: 'cut', isRetryable: true })
    })

    test('a cancelled call reaches the upstream and rejects with its reason', async () => {
      server().requests.length = 0
      server().respondWith(silence)
      const cancellation = new Cancellation()
      const reason = new Error('the client went away')
      const outcome = perform(cancellation).catch((error: unknown) => error)
      const { abandoned } = await server().requestNumber(0)
      cancellation.cancel(reason)
      await abandoned
      expect(await outcome).toBe(reason)
    })
  })
}
