import { expect, it } from 'vitest'
import { createInferenceRecord } from '../../modules/inference/inference.ts'
import type { Tracer } from '../../telemetry/tracing.ts'
import { traceInference } from './trace-inference.ts'

it.each([
  ['google', 'gcp.gemini'],
  ['mistral', 'mistral_ai'],
  ['openai', 'openai'],
  ['a-server-of-mine', 'a-server-of-mine'],
])('%s is called %s in a trace', (provider, traceName) => {
  const named: string[] = []
  const tracer: Tracer = {
    plan: () => ({ traceId: '', spanId: '', isSampled: false }),
    startInference: () => ({
      traceId: null,
      setFinishReason: () => {},
      addAttempt: () => {},
      setProvider: (upstream) => void named.push(upstream.provider),
      setResponse: () => {},
      setFirstToken: () => {},
      setUsage: () => {},
      finish: () => {},
    }),
    shutdown: async () => {},
  }
  const record = { ...createInferenceRecord('chat'), provider }
  traceInference(tracer, {
    record,
    requestId: 'req_1',
    accountId: undefined,
    durationMs: 1,
    status: 200,
    errorCode: null,
  })
  expect(named).toEqual([traceName])
})
