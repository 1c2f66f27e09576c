import { invalidValue } from '../../../kernel/app-error.ts'
import { JsonExcess, parseJson } from '../../../kernel/json/parse-json.ts'
import { isStorableJson } from '../../../kernel/storable-text.ts'
import { CsvInvalid, parseCsv } from './parse-csv.ts'
import { PROMPTS_MAX } from '../prompt-case.ts'

/** Larger than any 1,000 prompts that people write. */
export const DATASET_BYTES_MAX = 20 * 1024 * 1024

/** The unchecked prompts of a file, in the form of a request body. */
export function readDatasetFile(text: string, format: 'csv' | 'jsonl'): unknown[] {
  const prompts = format === 'csv' ? readCsv(text) : readJsonLines(text)
  if (prompts.length === 0) throw invalidValue('file', 'The file holds no prompt.')
  if (prompts.length > PROMPTS_MAX)
    throw invalidValue('file', `A dataset has ${PROMPTS_MAX} prompts at most.`)
  return prompts
}

const COLUMNS_MAX = 1_000
/** Empty ones among them. */
const LINES_MAX = 100_000

const TEXT_COLUMNS = ['id', 'prompt', 'input', 'system'] as const

/** The first line names the columns: `prompt` or `messages`, and `id`, `system` and `expected` where there are any. */
function readCsv(text: string): unknown[] {
  const [names = [], ...rows] = parse(text)
  const columns = new Map(names.map((name, index) => [name.trim().toLowerCase(), index]))
  if (!['prompt', 'input', 'messages'].some((name) => columns.has(name)))
    throw invalidValue('file', "The first line must name the columns, 'prompt' or 'messages' among them.")
  return rows.map((row, index) => {
    const read = (name: string): string | undefined => {
      const field = row[columns.get(name) ?? -1]
      return field === undefined || field === '' ? undefined : field
    }
    const prompt: Record<string, unknown> = {}
    for (const name of TEXT_COLUMNS) {
      const field = read(name)
      if (field !== undefined) prompt[name] = field
    }
    const messages = read('messages')
    if (messages !== undefined) prompt['messages'] = readJson(messages, `line ${index + 2}`)
    const expected = read('expected')
    if (expected !== undefined) prompt['expected'] = readExpected(expected)
    return prompt
  })
}

function parse(text: string): string[][] {
  try {
    return parseCsv(text, { rowsMax: PROMPTS_MAX + 1, columnsMax: COLUMNS_MAX, linesMax: LINES_MAX })
  } catch (error) {
    if (!(error instanceof CsvInvalid)) throw error
    throw invalidValue('file', `The file is not CSV. ${error.message}`)
  }
}

/** A JSON object describes the comparison; anything else is the expected text. */
function readExpected(field: string): unknown {
  if (!field.trimStart().startsWith('{')) return field
  try {
    return isStorableJson(field) ? parseJson(field) : field
  } catch {
    return field
  }
}

/** One prompt a line: a text, or an object as in a body. */
function readJsonLines(text: string): unknown[] {
  const prompts: unknown[] = []
  let start = text.startsWith('\uFEFF') ? 1 : 0
  // Stop after the first prompt above the limit: a file may have millions of empty lines.
  for (let line = 1; start < text.length && prompts.length <= PROMPTS_MAX; line += 1) {
    if (line > LINES_MAX) throw invalidValue('file', `A file has ${LINES_MAX} lines at most.`)
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    const trimmed = text.slice(start, end).trim()
    if (trimmed !== '') prompts.push(readJson(trimmed, `line ${line}`))
    start = end + 1
  }
  return prompts
}

function readJson(text: string, place: string): unknown {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (error) {
    const what = error instanceof JsonExcess ? error.predicate : 'holds no JSON'
    throw invalidValue('file', `The file is not valid: ${place} ${what}.`)
  }
  if (isStorableJson(text)) return value
  throw invalidValue('file', `The file is not valid: ${place} holds U+0000 or half of a surrogate pair.`)
}
