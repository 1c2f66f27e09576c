import type { Response } from 'undici'

/** Reads a whole body as text. Throws if it is longer than `bytesMax`. */
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

/** Yields the lines of a body as they arrive. Throws if an incomplete line gets longer than `lineBytesMax`. */
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
