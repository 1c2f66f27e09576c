import { mergeStreams } from '../../streams/merge-streams.ts'
import type { StreamAnswer } from '../../provider.ts'
import { sumChatUsage } from './chat-usage.ts'
import type { PartStream } from './part-stream.ts'
import { createChunkWriter, writeUsageChunk, type ChunkStyle, type ChunkWriter } from './write-chunks.ts'

/**
 * Merges the streams of all choices into one answer: their chunks as they arrive, then one chunk with the total usage, if it is
 * known.
 */
export function streamChoices(
  streams: readonly PartStream[],
  style: ChunkStyle,
  signal: AbortSignal,
): StreamAnswer {
  const writers = streams.map((_, choiceIndex) => createChunkWriter(style, choiceIndex))
  let isTerminated = false
  const cancel = () => {
    for (const stream of streams) stream.cancel()
  }

  async function* batches(): AsyncGenerator<readonly Buffer[], void> {
    try {
      const written = streams.map((stream, index) => writeBatches(stream, writers[index]))
      yield* mergeStreams(written, cancel)
      isTerminated = true
      const usage = sumChatUsage(writers.map((writer) => writer.usage()))
      if (usage !== undefined) yield [writeUsageChunk(style.head, usage)]
    } catch (error) {
      // After an abort, throw its reason instead of the resulting transport error.
      signal.throwIfAborted()
      throw error
    }
  }

  return { kind: 'stream', batches: batches(), isTerminated: () => isTerminated }
}

async function* writeBatches(
  stream: PartStream,
  writer: ChunkWriter | undefined,
): AsyncGenerator<readonly Buffer[], void> {
  if (writer === undefined) return
  for await (const parts of stream.batches()) {
    const chunks: Buffer[] = []
    try {
      for (const part of parts) chunks.push(...writer.write(part))
    } catch (error) {
      if (chunks.length > 0) yield chunks
      throw error
    }
    if (chunks.length > 0) yield chunks
  }
}
