export interface RemoteParent {
  readonly traceId: string
  readonly spanId: string
  readonly isSampled: boolean
}

const TRACEPARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/

/** Parses a W3C `traceparent` header. Returns null if it is missing or malformed; a new trace then begins. */
export function parseTraceparent(header: string | undefined): RemoteParent | null {
  if (header === undefined || header.length > 512) return null
  const [, traceId, spanId, flags] = TRACEPARENT.exec(header) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}
