/** The content of one event stream. */
export interface ReadEvents {
  /** The raw text. */
  text: string
  /** The parsed payloads of the `data` lines, without `[DONE]`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into chunks and fail loudly on a wrong shape
  chunks: any[]
  comments: string[]
  isDone: boolean
  /** The text of all deltas of the first choice. */
  content: string
}

/** Reads a stream to its end. */
export async function readEvents(response: Response): Promise<ReadEvents> {
  return parseEvents(await response.text())
}

function parseEvents(text: string): ReadEvents {
  const lines = text.split('\n').filter((line) => line !== '')
  const payloads = lines
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length))
  const chunks = payloads.filter((payload) => payload !== '[DONE]').map((payload) => JSON.parse(payload))
  return {
    text,
    chunks,
    comments: lines.filter((line) => line.startsWith(':')),
    isDone: payloads.at(-1) === '[DONE]',
    content: chunks
      .flatMap((chunk) => chunk.choices ?? [])
      .filter((choice) => choice.index === 0)
      .map((choice) => choice.delta?.content ?? choice.text ?? '')
      .join(''),
  }
}

export interface EventReader {
  /** Reads until the text so far matches the pattern, and returns all of it. */
  until(pattern: RegExp): Promise<string>
  cancel(): Promise<void>
}

/** Reads a stream piece by piece while it is still open. */
export function readPieces(response: Response): EventReader {
  const reader = response.body?.getReader()
  if (!reader) throw new Error('the answer has no body')
  const decoder = new TextDecoder()
  let text = ''
  return {
    async until(pattern) {
      while (!pattern.test(text)) {
        const { done, value } = await reader.read()
        if (done) throw new Error(`the stream ended before ${pattern}: ${text.slice(-500)}`)
        text += decoder.decode(value, { stream: true })
      }
      return text
    },
    cancel: () => reader.cancel(),
  }
}
