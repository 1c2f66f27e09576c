const TIMEOUT_MS = 2_000
const BYTES_MAX = 2 * 1024 * 1024

/** Reads the metrics of an engine from beside its API. Null where it has none, is slow, or says too much. */
export async function scrapeEngine(endpoint: string): Promise<string | null> {
  if (!/^https?:/.test(endpoint)) return null
  try {
    const response = await fetch(new URL('/metrics', endpoint), {
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    if (!response.ok || response.body === null) {
      await response.body?.cancel()
      return null
    }
    return await readText(response.body)
  } catch {
    return null
  }
}

async function readText(body: ReadableStream<Uint8Array>): Promise<string | null> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes > BYTES_MAX) return null
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}
