const TIMEOUT_MS = 2_000
const BYTES_MAX = 2 * 1024 * 1024

/** Reads the metrics of an engine, which are beside its API. Returns null if it has none, is slow, or sends too much. */
export async function scrapeEngine(endpoint: string): Promise<string | null> {
  if (!/^https?:/.test(endpoint)) return null
  try {
    const response = await fetch(metricsUrlOf(endpoint), {
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

/** The endpoint may have a path of its own, if the engine is reached through a proxy. */
function metricsUrlOf(endpoint: string): URL {
  const url = new URL(endpoint)
  url.pathname = `${url.pathname.replace(/\/(?:v1\/?)?$/, '')}/metrics`
  return url
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
