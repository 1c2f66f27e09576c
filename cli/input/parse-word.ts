import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'

/** Reads one of some words. Throws for another one, with those that are known. */
export function parseWord<Word extends string>(option: string, text: string, words: readonly Word[]): Word {
  const known = words.find((word) => word === text)
  if (known !== undefined) return known
  throw new CommandFailure(EXIT.usage, `${option} is one of ${words.join(', ')}, not "${text}".`)
}
