import { createReadStream } from 'node:fs'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { explainReadError } from '../files/explain-read-error.ts'
import { readLines } from './read-lines.ts'

/** One text to work on. */
export interface TextInput {
  readonly text: string
  /** The `id` of its JSON line; undefined if it has none. */
  readonly id: unknown
}

const FIELDS = ['text', 'input', 'content', 'document'] as const

/**
 * Yields the texts of a command: its arguments, the lines of its files, or else the lines of stdin. A line may be JSON: a text, or an
 * object with `text` (or `input`, `content`, `document`) and an `id`.
 */
export async function* readInputs(
  words: readonly string[],
  files: readonly string[],
): AsyncGenerator<TextInput> {
  for (const text of words) yield { text, id: undefined }
  for (const path of files) yield* parseLines(createReadStream(path), path)
  if (words.length > 0 || files.length > 0) return
  if (process.stdin.isTTY) throw new CommandFailure(EXIT.usage, 'There is no input.')
  yield* parseLines(process.stdin, 'stdin')
}

/** Collects inputs into batches that are bounded by number and by length, so that each is one request. */
export async function* inBatches(
  inputs: AsyncIterable<TextInput>,
  { countMax, lengthMax }: { countMax: number; lengthMax: number },
): AsyncGenerator<TextInput[]> {
  let batch: TextInput[] = []
  let length = 0
  for await (const input of inputs) {
    if (batch.length === countMax || (batch.length > 0 && length + input.text.length > lengthMax)) {
      yield batch
      batch = []
      length = 0
    }
    batch.push(input)
    length += input.text.length
  }
  if (batch.length > 0) yield batch
}

async function* parseLines(stream: AsyncIterable<Buffer>, name: string): AsyncGenerator<TextInput> {
  let number = 0
  try {
    for await (const line of readLines(stream)) {
      number += 1
      if (line.trim() !== '') yield parseLine(line, `Line ${number} of ${name}`)
    }
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    throw explainReadError(name, error)
  }
}

function parseLine(line: string, place: string): TextInput {
  const value = parseJson(line)
  if (typeof value === 'string') return { text: value, id: undefined }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { text: line, id: undefined }
  const members = value as Record<string, unknown>
  const text = FIELDS.map((field) => members[field]).find((member) => typeof member === 'string')
  if (typeof text !== 'string')
    throw new CommandFailure(EXIT.usage, `${place} is a JSON object without "text".`)
  return { text, id: members.id }
}

function parseJson(line: string): unknown {
  if (!/^\s*["{]/.test(line)) return null
  try {
    return JSON.parse(line)
  } catch {
    // A line of text may begin with a quotation mark.
    return null
  }
}
