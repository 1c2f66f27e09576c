import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../src/storage/testing/test-database.ts'
import { call, openStream } from './call.ts'
import { createWorkplace, type Program, type Workplace } from './workplace.ts'

const KEY = 'pk-dev-FollowersFollowersFollowersFollowers'
const SLOW = '[[sandbox:latency ms=600000]]'
const ENDLESS = '[[sandbox:pace tps=20]] [[sandbox:endless]]'
/** Longer than a test may take, so that no test passes by waiting for it. */
const GRACE_MS = 3_600_000

let workplace: Workplace
let database: TestDatabase
let program: Program
let url: string

beforeAll(async () => {
  workplace = createWorkplace()
  database = await createTestDatabase()
  program = workplace.start(['serve'], {
    environment: {
      DATABASE_URL: database.connectionString,
      PARKWAY_BOOTSTRAP_KEY: KEY,
      PARKWAY_SHUTDOWN_GRACE_MS: String(GRACE_MS),
      PARKWAY_SANDBOX_GPU_START_MS: '100',
      HF_ENDPOINT: 'http://127.0.0.1:9',
    },
  })
  url = (await program.ready()).url
})
afterAll(async () => {
  await workplace.clean()
  await database.drop()
})

describe('a signal to stop', () => {
  it('ends streams that follow stored work at once, and lets a paid answer finish', async () => {
    const make = async (path: string, body: object): Promise<string> =>
      (await call('POST', `${url}${path}`, { key: KEY, body })).body.id
    const runId = await make('/v1/compare/runs', { prompt: SLOW, models: ['gpt-4o-mini', 'gpt-5.4'] })
    const deploymentId = await make('/v1/deployments', {
      huggingface_id: 'Qwen/Qwen3-8B',
      gpu_tier: 'l40s_48gb',
    })
    const response = { model: 'gpt-4o-mini', input: ENDLESS, background: true }
    const responseId = await make('/v1/responses', response)
    const followed = [
      await follow(`/v1/compare/runs/${runId}/stream`),
      await follow(`/v1/deployments/${deploymentId}/logs?follow=true`),
      await follow(`/v1/responses/${responseId}?stream=true`),
      await follow('/v1/responses', { ...response, stream: true }),
    ]
    const paid = await openStream(url, KEY, '[[sandbox:pace tps=20]] [[sandbox:tokens n=60]]')

    program.kill('SIGTERM')

    for (const { text } of followed) {
      const ended = await text
      const last = JSON.parse(ended.slice(ended.lastIndexOf('data: ') + 'data: '.length))
      expect(last.error ?? last).toMatchObject({
        code: 'service_unavailable',
        message: 'The gateway is shutting down. Connect again to go on.',
      })
      expect(ended).not.toContain('[DONE]')
    }
    const answer = await paid.text
    expect(answer.match(/"content":"/g)?.length).toBeGreaterThanOrEqual(60)
    expect(answer.trimEnd().endsWith('data: [DONE]')).toBe(true)
    expect(await program.exited).toEqual({ code: 0, signal: null })
  })
})

/** Resolves when the stream is open. Its complete text resolves when it has ended. */
async function follow(path: string, body?: object): Promise<{ readonly text: Promise<string> }> {
  const response = await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  expect(response.status).toBe(200)
  return { text: response.text() }
}
