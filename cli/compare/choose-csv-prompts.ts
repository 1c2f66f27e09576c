import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'

/** Columns that hold the prompt, in the files that datasets are made of too. */
const PROMPT_COLUMNS = ['prompt', 'input', 'messages'] as const
/** Columns of the prompt's other members. */
const OTHER_COLUMNS = ['id', 'system', 'expected'] as const

/** Returns the prompts of a CSV file. Its first line has the names of the columns, and is never a prompt. */
export function chooseCsvPrompts(
  [header = [], ...rows]: readonly string[][],
  { path, column }: { path: string; column: string | undefined },
): Record<string, unknown>[] {
  const names = header.map((name) => name.trim())
  const place = findColumn(names, { path, column })
  const isMessages = column === undefined && names[place]?.toLowerCase() === 'messages'
  return rows.flatMap((row, index) => {
    const text = row[place] ?? ''
    if (text.trim() === '') return []
    const prompt = isMessages
      ? { messages: parseMessages(text, `Row ${index + 1} of ${path}`) }
      : { prompt: text }
    return [{ ...readOthers(names, row, place), ...prompt }]
  })
}

function findColumn(
  names: readonly string[],
  { path, column }: { path: string; column: string | undefined },
): number {
  const lower = names.map((name) => name.toLowerCase())
  const wanted =
    column === undefined ? PROMPT_COLUMNS.find((name) => lower.includes(name)) : column.trim().toLowerCase()
  const place = wanted === undefined ? -1 : lower.indexOf(wanted)
  if (place !== -1) return place
  const columns = names.map((name) => `"${name}"`).join(', ')
  throw new CommandFailure(
    EXIT.usage,
    column === undefined
      ? `It is not clear which column of ${path} has the prompts. Its first line names ${columns}.`
      : `${path} has no column "${column}". Its first line names ${columns}.`,
    'Choose one with --column. If the file is text without columns, give --format text.',
  )
}

function readOthers(
  names: readonly string[],
  row: readonly string[],
  place: number,
): Record<string, unknown> {
  const others = OTHER_COLUMNS.flatMap((name) => {
    const index = names.findIndex((one) => one.toLowerCase() === name)
    const field = index === place ? undefined : row[index]
    if (field === undefined || field === '') return []
    return [[name, name === 'expected' ? readExpected(field) : field] as const]
  })
  return Object.fromEntries(others)
}

/** A JSON object describes the comparison; anything else is the expected text. */
function readExpected(field: string): unknown {
  if (!field.trimStart().startsWith('{')) return field
  try {
    return JSON.parse(field)
  } catch {
    return field
  }
}

function parseMessages(text: string, place: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new CommandFailure(
      EXIT.usage,
      `The messages of ${place} are not JSON: ${(error as Error).message}.`,
    )
  }
}
