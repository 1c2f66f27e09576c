import { afterAll, beforeAll, expect, test } from 'vitest'
import { json } from '../../../tests/upstreams/openai-server.ts'
import { startScriptedServer, type ScriptedServer } from '../../../tests/upstreams/scripted-server.ts'
import type { BatchApi } from './batch-api.ts'
import { createBatchApi } from './create-batch-api.ts'

let server: ScriptedServer
let api: BatchApi
let close: () => Promise<void>
const signal = new AbortController().signal

beforeAll(async () => {
  server = await startScriptedServer(json({}))
  const settings = { apiKeys: ['sk-new', 'sk-other'], headers: [], path: undefined, baseUrl: server.baseUrl }
  const made = createBatchApi('openai', { form: 'openai', priceMillionths: 500_000n }, settings)
  if (made === null) throw new Error('no batch API')
  api = made.api
  close = () => made.close()
})
afterAll(async () => {
  await close()
  await server.close()
})

test.each([
  [{ status: 'completed' }, 'ended'],
  [{ status: 'expired', error_file_id: 'file-1' }, 'ended'],
  [{ status: 'new_ending', output_file_id: 'file-1' }, 'ended'],
  [{ status: 'in_progress', output_file_id: 'file-1' }, 'running'],
  [{ status: 'paused' }, 'running'],
  [{}, 'running'],
])('the answer %j says that the batch is %s', async (answer, kind) => {
  server.respondWith(json(answer))
  expect((await api.look('batch_1', { keyMark: api.keyMark, signal })).kind).toBe(kind)
})

test('another key stands in for one that is gone, except where a batch that it does not show would be made again', async () => {
  const call = { keyMark: 'of a key that is gone', signal }
  const before = server.requests.length
  server.respondWith(json({ status: 'in_progress' }))
  expect(await api.look('batch_1', call)).toEqual({ kind: 'running' })
  expect(server.requests[before]?.headers.authorization).toBe('Bearer sk-new')
  const sought = { name: 'n', lineCount: 1, sentAtMs: 0, findKnown: async () => new Set<string>() }
  await expect(api.find(sought, { ...call, needsOwnKey: true })).rejects.toThrow('not configured any more')
  expect(server.requests).toHaveLength(before + 1)
})
