import { keepTrying } from '../../../kernel/keep-trying.ts'
import type { LineWriter } from './line-writer.ts'

/** Tries writes again through a restart of the database. Tells the length of each result that was written. */
export function keepWriting(
  writer: LineWriter,
  isGivenUp: () => boolean,
  onResult: (length: number) => void,
): LineWriter {
  return {
    begin: (number) => keepTrying(() => writer.begin(number), isGivenUp),
    beginAll: (numbers) => keepTrying(() => writer.beginAll(numbers), isGivenUp),
    giveBack: (numbers) => keepTrying(() => writer.giveBack(numbers), isGivenUp),
    end: async (end) => {
      const isWritten = await keepTrying(() => writer.end(end), isGivenUp)
      if (end.status !== 'pending') onResult(end.result.length)
      return isWritten
    },
  }
}
