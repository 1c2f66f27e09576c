/** Matches the type of an event, which all vendors of such wires write first. */
const TYPE_FIRST = /^\{"type":\s?"([\w.]+)"/
const TYPE_LENGTH_MAX = 96
const FRAME_END = Buffer.from('\n\n')

/** Frames events for wires with named events: each frame has an `event:` line with the type of its payload. */
export function frameEvents(batch: readonly Buffer[]): Buffer {
  const pieces: Buffer[] = []
  for (const payload of batch)
    pieces.push(Buffer.from(`event: ${typeOf(payload)}\ndata: `), payload, FRAME_END)
  return Buffer.concat(pieces)
}

function typeOf(payload: Buffer): string {
  const first = TYPE_FIRST.exec(payload.toString('latin1', 0, TYPE_LENGTH_MAX))?.[1]
  if (first !== undefined) return first
  const { type } = JSON.parse(payload.toString())
  return String(type)
}
