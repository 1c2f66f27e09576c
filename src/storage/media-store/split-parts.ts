/** The same bytes in parts of one size, the last of which may be smaller. */
export async function* splitParts(
  source: AsyncIterable<Uint8Array>,
  partBytes: number,
): AsyncGenerator<Uint8Array, void> {
  let part = new Uint8Array(0)
  let filled = 0
  for await (const chunk of source) {
    for (let offset = 0; offset < chunk.byteLength;) {
      if (filled === part.byteLength) part = grow(part, filled + chunk.byteLength - offset, partBytes)
      const taken = Math.min(part.byteLength - filled, chunk.byteLength - offset)
      part.set(chunk.subarray(offset, offset + taken), filled)
      filled += taken
      offset += taken
      if (filled < partBytes) continue
      yield part
      part = new Uint8Array(0)
      filled = 0
    }
  }
  if (filled > 0) yield part.subarray(0, filled)
}

// Doubled as needed: most files are much smaller than a part.
function grow(part: Uint8Array, neededBytes: number, partBytes: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.min(partBytes, Math.max(neededBytes, part.byteLength * 2)))
  larger.set(part)
  return larger
}
