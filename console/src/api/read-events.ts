/** A longer line is not an event of this API. */
const LINE_LENGTH_MAX = 4_000_000

/** Reads the `data` of server-sent events, up to the end mark of OpenAI's streams. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > LINE_LENGTH_MAX) throw new Error('an event of the stream is too long')
      for (const line of lines) {
        if (!line.startsWith('data:')) continue
        const data = line.slice(5).trim()
        if (data === '[DONE]') return
        if (data !== '') yield data
      }
    }
  } finally {
    await reader.cancel()
  }
}
