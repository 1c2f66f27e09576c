import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { eventually } from '../support/eventually.ts'
import { createOther, deploy, startGpuGateway, waitForStatus } from './deploy.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGpuGateway()
})
afterAll(() => gateway.close())

/** Opens a stream of a log and reads it until it ends or is cancelled. */
async function follow(id: string, { key = gateway.key, lines = 100 } = {}) {
  const leaving = new AbortController()
  const response = await gateway.fetch('GET', `/v1/deployments/${id}/logs?follow=true&lines=${lines}`, {
    key,
    signal: leaving.signal,
  })
  let text = ''
  const reading = (async () => {
    for await (const piece of response.body ?? []) text += Buffer.from(piece).toString('utf8')
  })().catch(() => {})
  return {
    response,
    text: () => text,
    lines: () => [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, event = '']) => JSON.parse(event)),
    ended: reading,
    leave: async () => {
      leaving.abort()
      await reading
    },
  }
}

describe('the log of a deployment', () => {
  test('is streamed from its last lines on, over all runs, until the deployment is stopped', async () => {
    const id = await deploy(gateway)
    const log = await follow(id)
    expect([log.response.status, log.response.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ])
    await waitForStatus(gateway, id, 'running')
    await eventually(() => expect(log.text()).toContain('ready'))
    await gateway.request('POST', `/v1/deployments/${id}/stop`)
    await log.ended
    const events = log.lines()
    expect(events.at(-1)).toEqual({ type: 'end', reason: 'stopped' })
    expect(log.text().endsWith('data: [DONE]\n\n')).toBe(true)
    const said = events.filter(({ type }) => type === 'line').map(({ line }) => line.replace(/^\S+ /, ''))
    expect(said[0]).toBe('launching Qwen/Qwen3-8B on l40s_48gb')
    expect(said.filter((line) => line === 'ready')).toHaveLength(1)
    const { body } = await gateway.request('GET', `/v1/deployments/${id}/logs?lines=1`)
    expect(body.lines).toHaveLength(1)
    expect(body.lines[0]).toContain('released')
  })

  test('ends when the deployment is deleted', async () => {
    const id = await deploy(gateway)
    await waitForStatus(gateway, id, 'running')
    const log = await follow(id, { lines: 1 })
    await eventually(() => expect(log.lines()).toHaveLength(1))
    await gateway.request('DELETE', `/v1/deployments/${id}`)
    await log.ended
    expect(log.lines().at(-1)).toEqual({ type: 'end', reason: 'deleted' })
  })

  test('ends with an error frame when the key that follows it is revoked', async () => {
    const id = await deploy(gateway)
    await waitForStatus(gateway, id, 'running')
    const { body: key } = await gateway.request('POST', '/v1/tenants/me/api-keys', { body: { name: 'log' } })
    const log = await follow(id, { key: key.key })
    const kept = await follow(id)
    await eventually(() => expect(log.lines().length).toBeGreaterThan(0))
    await gateway.request('DELETE', `/v1/tenants/me/api-keys/${key.id}`)
    await log.ended
    expect(log.lines().at(-1).error.code).toBe('invalid_api_key')
    expect(log.text()).not.toContain('[DONE]')
    await gateway.request('POST', `/v1/deployments/${id}/stop`)
    await kept.ended
    expect(kept.lines().at(-1)).toEqual({ type: 'end', reason: 'stopped' })
  })

  test('contains the reason of an engine failure', async () => {
    const id = await deploy(gateway, { env: { SANDBOX_FAILURE: 'out_of_memory' } })
    await waitForStatus(gateway, id, 'error')
    const log = await follow(id)
    await log.ended
    expect(log.text()).toContain('does not fit into the memory')
    expect(log.lines().at(-1)).toEqual({ type: 'end', reason: 'error' })
  })

  test('can be followed five times at once by an account, and not by other accounts', async () => {
    const id = await deploy(gateway)
    const other = await createOther(gateway)
    const logs = []
    for (let count = 0; count < 5; count += 1) logs.push(await follow(id))
    expect(logs.map(({ response }) => response.status)).toEqual([200, 200, 200, 200, 200])
    const { status, headers, body } = await gateway.request('GET', `/v1/deployments/${id}/logs?follow=true`)
    expect([status, body.error.code, headers.get('retry-after')]).toEqual([
      429,
      'concurrency_limit_reached',
      '10',
    ])
    expect(
      (await gateway.request('GET', `/v1/deployments/${id}/logs?follow=true`, { key: other })).status,
    ).toBe(404)
    // A closed stream makes room for another one.
    await logs[0]?.leave()
    await eventually(async () => {
      const again = await follow(id)
      expect(again.response.status).toBe(200)
      logs.push(again)
    })
    await Promise.all(logs.map((log) => log.leave()))
  })
})
