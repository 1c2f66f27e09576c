import type { Response } from 'undici'

/** Reads a whole body as text. Throws for one that is longer than allowed. */
export async function readBounded(response: Response, bytesMax: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of chunksOf(response)) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new Error(`the cluster's answer is longer than ${bytesMax} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** Reads a body line by line as it comes. Throws for a line that is longer than allowed. */
export async function* readLines(response: Response, lineBytesMax: number): AsyncIterable<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunksOf(response)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') yield line
    if (rest.length > lineBytesMax) throw new Error(`an event is longer than ${lineBytesMax} bytes`)
  }
  if (rest.trim() !== '') yield rest
}

async function* chunksOf(response: Response): AsyncIterable<Uint8Array> {
  if (response.body === null) return
  for await (const chunk of response.body) if (chunk instanceof Uint8Array) yield chunk
}
