import { createToken } from '../kernel/identifiers.ts'
import { parseTraceparent } from './traceparent.ts'

/** The ids of a span before it is recorded, for what is told of it while it runs. */
export interface TraceIds {
  readonly traceId: string
  readonly spanId: string
  readonly isSampled: boolean
}

/** Writes a W3C `traceparent` header. */
export function formatTraceparent({ traceId, spanId, isSampled }: TraceIds): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}

export function createSpanId(): string {
  return createToken('').slice(0, 16)
}

export function createTraceId(): string {
  return createToken('') + createToken('').slice(0, 8)
}

/** Returns the ids of a new span: in the trace of its client, or in a new one that is sampled as `isSampled` says. */
export function planSpan(traceparent: string | null, isSampled: (traceId: string) => boolean): TraceIds {
  const parent = parseTraceparent(traceparent ?? undefined)
  const spanId = createSpanId()
  if (parent !== null) return { traceId: parent.traceId, spanId, isSampled: parent.isSampled }
  const traceId = createTraceId()
  return { traceId, spanId, isSampled: isSampled(traceId) }
}
