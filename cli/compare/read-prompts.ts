import { createReadStream } from 'node:fs'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { explainReadError } from '../files/explain-read-error.ts'
import { readLines } from '../input/read-lines.ts'

/** A prompt as the API takes it: a text, or an object with `prompt` or `messages`. */
export type Prompt = string | Record<string, unknown>

const PROMPTS_MAX = 1_000

/** Reads prompts from a file, one a line: as text, or as JSON. A dash is stdin. */
export async function readPrompts(path: string): Promise<Prompt[]> {
  const prompts: Prompt[] = []
  let number = 0
  try {
    for await (const line of readLines(path === '-' ? process.stdin : createReadStream(path))) {
      number += 1
      if (line.trim() === '') continue
      prompts.push(parsePrompt(line, `Line ${number} of ${path}`))
      if (prompts.length > PROMPTS_MAX)
        throw new CommandFailure(EXIT.usage, `${path} has more than ${PROMPTS_MAX} prompts.`)
    }
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    throw explainReadError(path, error)
  }
  if (prompts.length === 0) throw new CommandFailure(EXIT.usage, `${path} has no prompts.`)
  return prompts
}

function parsePrompt(line: string, place: string): Prompt {
  if (!/^\s*\{/.test(line)) return line.trim()
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch (error) {
    throw new CommandFailure(EXIT.usage, `${place} is not JSON: ${(error as Error).message}.`)
  }
}
