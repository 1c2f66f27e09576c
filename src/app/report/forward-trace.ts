import type { InferenceRecord } from '../../modules/inference/inference.ts'
import type { Provider } from '../../providers/provider.ts'
import { createSpanId, formatTraceparent } from '../../telemetry/trace-ids.ts'
import { parseTraceparent } from '../../telemetry/traceparent.ts'
import type { Tracer } from '../../telemetry/tracing.ts'

/** Which upstreams are told the trace of a request. */
export type TraceReceivers = 'none' | 'own' | 'all'

/** What an upstream is told of the trace, and the id of the span that stands for the attempt. */
interface ForwardedTrace {
  readonly traceparent: string
  /** Null without tracing: the upstream is told what the client sent. */
  readonly spanId: string | null
}

/** Returns a function that says what an upstream is told of the trace of a request. Null if none is told anything. */
export function createTraceForwarding(
  tracer: Pick<Tracer, 'plan'> | null,
  receivers: TraceReceivers,
):
  | ((
      provider: Pick<Provider, 'isOwnServer'>,
      record: Pick<InferenceRecord, 'traceparent' | 'trace'>,
    ) => ForwardedTrace | null)
  | null {
  if (receivers === 'none') return null
  return (provider, record) => {
    if (receivers === 'own' && provider.isOwnServer !== true) return null
    if (tracer === null) return forwardOfClient(record.traceparent)
    record.trace ??= tracer.plan(record.traceparent)
    const spanId = createSpanId()
    return { traceparent: formatTraceparent({ ...record.trace, spanId }), spanId }
  }
}

/** Written anew, so that nothing but ids goes on. */
function forwardOfClient(traceparent: string | null): ForwardedTrace | null {
  const parent = traceparent === null ? null : parseTraceparent(traceparent)
  return parent === null ? null : { traceparent: formatTraceparent(parent), spanId: null }
}
