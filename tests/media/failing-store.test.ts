import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { waitForTask } from '../generation/wait-for-task.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { BUCKET_FAILURES, startFailingBucket, type FailingBucket } from '../upstreams/failing-bucket.ts'

let bucket: FailingBucket
let gateway: TestGateway
let path: string

const IMAGES = '/v1/images/generations'
const settingsOf = ({ storeUrl }: { storeUrl: string }) => ({
  MEDIA_STORE_URL: storeUrl,
  AWS_ACCESS_KEY_ID: 'id',
  AWS_SECRET_ACCESS_KEY: 'secret',
})
const readiness = async (of = gateway) => {
  const { status, body } = await of.request('GET', '/readyz')
  return [status, body.checks.media.status]
}
const metric = async (pattern: RegExp) =>
  pattern.exec(String((await gateway.request('GET', '/metrics')).body))?.[1]

beforeAll(async () => {
  bucket = await startFailingBucket()
  gateway = await startTestGateway({ settings: settingsOf(bucket) })
  const { status, body } = await gateway.request('POST', IMAGES, {
    body: { model: 'gpt-image-1.5', prompt: 'A cube', response_format: 'url' },
  })
  expect(status).toBe(200)
  path = new URL(body.data[0].url).pathname
})
afterEach(async () => {
  bucket.failure = null
  await eventually(async () => expect(await readiness()).toEqual([200, 'ok']))
})
afterAll(async () => {
  await gateway.close()
  await bucket.close()
})

describe.each(BUCKET_FAILURES.filter((failure) => failure !== 'stalled'))(
  'a bucket that is %s',
  (failure) => {
    test('is told as such, is seen on /readyz and in the metrics, and works again afterwards', async () => {
      expect((await gateway.request('GET', path)).status).toBe(200)
      bucket.failure = failure
      const { status, body, headers } = await gateway.request('GET', path)
      expect([status, body.error.code, headers.get('retry-after')]).toEqual([503, 'service_unavailable', '5'])
      expect(body.error.message).toContain('store of files')
      expect(headers.get('cache-control') ?? '').not.toContain('max-age')
      await eventually(async () => expect((await readiness())[0]).toBe(503))
      expect(await metric(/^parkway_media_store_failing (\d)$/m)).toBe('1')
      expect(
        Number(await metric(/^parkway_media_store_failures_total\{operation="open"\} (\d+)$/m)),
      ).toBeGreaterThan(0)
      // Nothing is asked of an upstream whose result could not be stored.
      const refused = await gateway.request('POST', IMAGES, {
        body: { model: 'gpt-image-1.5', prompt: 'A cube', response_format: 'url' },
      })
      expect([refused.status, refused.body.error.code]).toEqual([503, 'service_unavailable'])
      bucket.failure = null
      await eventually(async () => expect((await gateway.request('GET', path)).status).toBe(200))
      expect(await metric(/^parkway_media_store_failing (\d)$/m)).toBe('0')
    })
  },
)

test('a task whose result cannot be stored waits for the bucket and is completed', async () => {
  const { status, body } = await gateway.request('POST', IMAGES, {
    body: { model: 'flux-schnell', prompt: '[[sandbox:latency ms=500]] A cube' },
  })
  expect(status).toBe(202)
  bucket.failure = 'forbidden'
  const failures = async () =>
    Number((await metric(/^parkway_media_store_failures_total\{operation="put"\} (\d+)$/m)) ?? 0)
  const before = await failures()
  await eventually(async () => expect(await failures()).toBeGreaterThan(before))
  bucket.failure = null
  expect((await waitForTask(gateway, body.task_id)).status).toBe('completed')
})

test('a download that stalls is ended', async () => {
  bucket.failure = 'stalled'
  const answer = await fetch(`${gateway.baseUrl}${path}`)
  expect(answer.status).toBe(200)
  await expect(answer.arrayBuffer()).rejects.toThrow()
})

test('a gateway whose bucket does not exist or refuses connections is not ready', async () => {
  const gone = await startFailingBucket()
  const other = await startTestGateway({ settings: settingsOf(gone) })
  gone.failure = 'no_bucket'
  expect(await readiness(other)).toEqual([503, 'failed'])
  await gone.close()
  const { status } = await other.request('POST', IMAGES, {
    body: { model: 'gpt-image-1.5', prompt: 'A cube', response_format: 'url' },
  })
  expect(status).toBe(503)
  await other.close()
})
