import { expect, test } from 'vitest'
import { createTraceForwarding } from './forward-trace.ts'

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const OWN = { isOwnServer: true } as const
const record = (traceparent: string | null) => ({ traceparent, trace: null })

test('without tracing, the trace of the client is passed on, and nothing but its ids', () => {
  const forward = createTraceForwarding(null, 'own')
  expect(forward?.(OWN, record(TRACEPARENT))?.traceparent).toBe(TRACEPARENT)
  expect(forward?.(OWN, record(`01${TRACEPARENT.slice(2)}-secret`))?.traceparent).toBe(TRACEPARENT)
  for (const malformed of [null, 'x', 'a'.repeat(600), '00-0-0-01'])
    expect(forward?.(OWN, record(malformed))).toBeNull()
})

test('vendors are told the trace only if the operator says so, and nobody if nobody shall be', () => {
  expect(createTraceForwarding(null, 'own')?.({}, record(TRACEPARENT))).toBeNull()
  expect(createTraceForwarding(null, 'all')?.({}, record(TRACEPARENT))?.traceparent).toBe(TRACEPARENT)
  expect(createTraceForwarding(null, 'none')).toBeNull()
})

test('all calls of a request are told the same trace, each with a span of its own', () => {
  const planned = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: false }
  const forward = createTraceForwarding({ plan: () => planned }, 'all')
  const asked = record(null)
  const told = [forward?.({}, asked), forward?.({}, asked)]
  expect(asked.trace).toBe(planned)
  expect(told[0]?.spanId).not.toBe(told[1]?.spanId)
  for (const { traceparent, spanId } of told.filter((one) => one !== null && one !== undefined))
    expect(traceparent).toBe(`00-${planned.traceId}-${spanId}-00`)
})
