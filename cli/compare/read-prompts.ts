import { createReadStream } from 'node:fs'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { explainReadError } from '../files/explain-read-error.ts'
import { readLines } from '../input/read-lines.ts'
import { CsvInvalid, parseCsv } from './parse-csv.ts'
import { chooseCsvPrompts } from './choose-csv-prompts.ts'

/** A prompt as the API takes it: a text, or an object with `prompt` or `messages`. */
export type Prompt = string | Record<string, unknown>

const FORMATS = ['csv', 'tsv', 'jsonl', 'text'] as const
type Format = (typeof FORMATS)[number]

interface PromptSource {
  /** The column or the JSON member that has the prompt. */
  readonly column?: string | undefined
  /** By default the ending of the file tells. */
  readonly format?: string | undefined
  /** The most prompts that are read. */
  readonly countMax?: number
}

const PROMPTS_MAX = 1_000
const CSV_LENGTH_MAX = 20 * 1024 * 1024

/** Reads prompts from a file: CSV with a line of column names, JSON lines, or one text a line. A dash is stdin. */
export async function readPrompts(path: string, source: PromptSource = {}): Promise<Prompt[]> {
  const { column, countMax = PROMPTS_MAX } = source
  const format = chooseFormat(path, source)
  if (format === 'text' && column !== undefined)
    throw new CommandFailure(
      EXIT.usage,
      `${path} is read as text, which has no columns.`,
      'Tell what it is with --format csv, tsv or jsonl.',
    )
  const prompts =
    format === 'csv' || format === 'tsv'
      ? chooseCsvPrompts(await readRows(path, format, countMax), { path, column })
      : await readEachLine(path, countMax, (line, place) => parseLine(line, place, { format, column }))
  if (prompts.length === 0) throw new CommandFailure(EXIT.usage, `${path} has no prompts.`)
  if (prompts.length > countMax)
    throw new CommandFailure(EXIT.usage, `${path} has more than ${countMax} prompts.`)
  return prompts
}

function chooseFormat(path: string, { format, column }: PromptSource): Format {
  const known = FORMATS.find((one) => one === format)
  if (known !== undefined) return known
  if (format !== undefined)
    throw new CommandFailure(EXIT.usage, `--format takes one of ${FORMATS.join(', ')}.`)
  const ending = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase()
  if (ending === 'csv' || ending === 'tsv') return ending
  if (ending === 'jsonl' || ending === 'ndjson') return 'jsonl'
  return path === '-' && column !== undefined ? 'csv' : 'text'
}

async function readRows(path: string, format: 'csv' | 'tsv', countMax: number): Promise<string[][]> {
  const lines: string[] = []
  let length = 0
  await readEachLine(path, countMax, (line) => {
    length += line.length + 1
    if (length > CSV_LENGTH_MAX)
      throw new CommandFailure(EXIT.usage, `${path} is longer than ${CSV_LENGTH_MAX / 1024 / 1024} MiB.`)
    lines.push(line)
    return []
  })
  const [first = ''] = lines
  // Spreadsheets of many countries separate by semicolons, because the comma is in their numbers.
  const separator = format === 'tsv' ? '\t' : first.includes(',') || !first.includes(';') ? ',' : ';'
  try {
    return parseCsv(lines.join('\n'), separator)
  } catch (error) {
    if (!(error instanceof CsvInvalid)) throw error
    throw new CommandFailure(EXIT.usage, `${path} is not CSV: ${error.message}.`)
  }
}

/** Calls back with each line and its place, and returns what it makes of them. */
async function readEachLine(
  path: string,
  countMax: number,
  parse: (line: string, place: string) => readonly Prompt[],
): Promise<Prompt[]> {
  const prompts: Prompt[] = []
  let number = 0
  try {
    for await (const line of readLines(path === '-' ? process.stdin : createReadStream(path))) {
      number += 1
      prompts.push(...parse(line, `Line ${number} of ${path}`))
      if (prompts.length > countMax) break
    }
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    throw explainReadError(path, error)
  }
  return prompts
}

/** A line of text may be JSON too. */
function parseLine(
  line: string,
  place: string,
  { format, column }: { format: Format; column: string | undefined },
): readonly Prompt[] {
  if (line.trim() === '') return []
  if (format === 'text' && !/^\s*\{/.test(line)) return [line.trim()]
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    throw new CommandFailure(EXIT.usage, `${place} is not JSON: ${(error as Error).message}.`)
  }
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new CommandFailure(EXIT.usage, `${place} is neither a text nor an object.`)
  const members = new Map<string, unknown>(Object.entries(value))
  if (column === undefined) return [Object.fromEntries(members)]
  const prompt = members.get(column)
  if (typeof prompt === 'string' && prompt !== '') return [{ ...keep(members), prompt }]
  throw new CommandFailure(EXIT.usage, `${place} has no text named "${column}".`)
}

/** Of an object whose prompt has another name, what the API knows. */
function keep(members: ReadonlyMap<string, unknown>): Record<string, unknown> {
  return Object.fromEntries([...members].filter(([name]) => ['id', 'system', 'expected'].includes(name)))
}
