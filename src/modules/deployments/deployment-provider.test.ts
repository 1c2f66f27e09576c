import { afterAll, beforeAll, expect, test } from 'vitest'
import { Cancellation } from '../../kernel/cancellation.ts'
import type { InferenceCall } from '../../providers/provider.ts'
import { modelIdOf } from './deployment.ts'
import { createDeploymentStage, ORDER, type DeploymentStage } from './testing/deployment-stage.ts'

let stage: DeploymentStage
let queries: string[] = []
const asked: InferenceCall[] = []

beforeAll(async () => {
  stage = await createDeploymentStage({
    onQuery: (sql) => queries.push(sql),
    engine: {
      id: 'sandbox',
      isConfigured: true,
      chat: async (call) => {
        asked.push(call)
        return { kind: 'complete', payload: Buffer.from('{}') }
      },
    },
  })
})
afterAll(() => stage.close())

test('a request to a running deployment needs no database query, including its metrics', async () => {
  const caller = await stage.createCaller(10)
  const { id } = await stage.deployments.create(caller, ORDER)
  await stage.pass(stage.startProcess(), 60_000)
  await stage.deployments.announce(id)
  await expect.poll(() => stage.deployments.models.list(caller).length).toBe(1)
  const [provider] = stage.deployments.providers
  const call: InferenceCall = {
    body: { model: modelIdOf(id), messages: [] },
    text: '{}',
    upstreamModel: modelIdOf(id),
    canReason: false,
    requestId: 'req_1',
    timeouts: { connectMs: 1_000, firstByteMs: 1_000, idleMs: 1_000 },
    cancellation: new Cancellation(),
    keyId: caller.keyId,
  }
  // No timer runs between these lines: whatever is asked of the database here, a request asks.
  queries = []
  expect(stage.deployments.models.resolve(caller, modelIdOf(id))?.id).toBe(modelIdOf(id))
  const answering = provider?.chat?.(call)
  expect(asked.map(({ upstreamModel }) => upstreamModel)).toEqual([ORDER.huggingfaceId])
  stage.deployments.noteRequest(modelIdOf(id), {
    durationMs: 10,
    firstTokenMs: null,
    tokensIn: 1,
    tokensOut: 1,
    isError: false,
  })
  expect(queries).toEqual([])
  expect((await answering)?.kind).toBe('complete')
})
