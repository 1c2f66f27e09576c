const LINE_FEED = 0x0a

/** Splits bytes into lines. In memory are one piece and one line up to the limit; null stands for a longer one. Empty lines are left out. */
export async function* readLines(
  pieces: AsyncIterable<Buffer>,
  lineBytesMax: number,
): AsyncGenerator<Buffer | null, void> {
  let parts: Buffer[] = []
  let bytes = 0
  const add = (part: Buffer): void => {
    bytes += part.length
    if (bytes > lineBytesMax) parts = []
    else if (part.length > 0) parts.push(part)
  }
  for await (const piece of pieces) {
    let start = 0
    for (let end = piece.indexOf(LINE_FEED); end !== -1; end = piece.indexOf(LINE_FEED, start)) {
      add(piece.subarray(start, end))
      if (bytes > 0) yield bytes > lineBytesMax ? null : Buffer.concat(parts)
      parts = []
      bytes = 0
      start = end + 1
    }
    add(piece.subarray(start))
  }
  if (bytes > 0) yield bytes > lineBytesMax ? null : Buffer.concat(parts)
}
