import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'

const LINE_LENGTH_MAX = 4 * 1024 * 1024

/** Yields the lines of a stream as they are needed, so that it may have any length. A single line may not. */
export async function* readLines(stream: AsyncIterable<Buffer | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let pending = ''
  for await (const part of stream) {
    pending += typeof part === 'string' ? part : decoder.decode(part, { stream: true })
    const lines = pending.split(/\r?\n/)
    pending = lines.pop() ?? ''
    yield* lines
    if (pending.length > LINE_LENGTH_MAX)
      throw new CommandFailure(EXIT.usage, `A line is longer than ${LINE_LENGTH_MAX / 1024 / 1024} MiB.`)
  }
  if (pending !== '') yield pending
}
