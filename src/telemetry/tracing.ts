import type { Tracer, TracingOptions } from './tracer.ts'

export type { AttemptSpan, InferenceSpan, InferenceStart, Tracer } from './tracer.ts'

/** Returns null without an endpoint. OpenTelemetry is then not loaded, and requests only pay for a null check. */
export async function createTracer(options: TracingOptions): Promise<Tracer | null> {
  const { endpoint } = options
  if (endpoint === undefined || endpoint === '') return null
  const { createOtlpTracer } = await import('./otlp-tracer.ts')
  return createOtlpTracer({ ...options, endpoint })
}

/** Parses `OTEL_EXPORTER_OTLP_HEADERS`: comma-separated `name=value` pairs with percent-encoded values. */
export function parseOtlpHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').flatMap((pair): [string, string][] => {
    const separator = pair.indexOf('=')
    const name = pair.slice(0, separator).trim()
    return separator > 0 && name !== '' ? [[name, decodeValue(pair.slice(separator + 1).trim())]] : []
  })
  return Object.fromEntries(pairs)
}

function decodeValue(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
