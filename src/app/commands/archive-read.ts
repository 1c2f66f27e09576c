import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { csvRow } from '../../http/answers/csv-row.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import { lookupTable } from '../../kernel/lookup-table.ts'
import type { ArchivedColumn, ArchivedRow } from '../../storage/archive/archived-tables.ts'
import { readArchives } from '../../storage/archive/read-archives.ts'
import { errorCodeOf } from '../../storage/storage-error.ts'
import { UsageError } from '../settings/usage-error.ts'
import { CONFIG_OPTION, type Command } from './command.ts'
import { requireMonth, requireTable, TABLE_NAMES, withArchives } from './open-archives.ts'

/** Prints rows of an archive as they are read. */
export const archiveRead: Command = {
  usage: 'archive read TABLE --month YYYY-MM [--account ID] [--format csv|jsonl] [--config FILE]',
  options: {
    TABLE: `Whose rows: ${TABLE_NAMES}.`,
    '--month YYYY-MM': 'The month of the archive, in UTC.',
    '--account ID': 'Print the rows of this account only.',
    '--format csv|jsonl': 'How rows are printed: `jsonl` unless told.',
    ...CONFIG_OPTION,
  },
  async run(words) {
    const { positionals, values } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        config: { type: 'string' },
        month: { type: 'string' },
        account: { type: 'string' },
        format: { type: 'string', default: 'jsonl' },
      },
    })
    const [name, ...others] = positionals
    if (name === undefined || others.length > 0) throw new UsageError(`Name one table: ${TABLE_NAMES}.`)
    const table = requireTable(name)
    const month = requireMonth(values.month ?? '')
    const accountId = values.account?.toLowerCase() ?? null
    if (accountId !== null && !isUuid(accountId))
      throw new UsageError('--account must be the id of an account.')
    const format = FORMATS[values.format]
    if (format === undefined) throw new UsageError('--format must be csv or jsonl.')
    return withArchives(values.config, async (archives) => {
      const rows = await readArchives(archives, { table, month, accountId })
      if (rows === null) {
        process.stderr.write(`${table.name} of ${month.name} are not archived.\n`)
        return 1
      }
      await print(format(table.columns, rows))
      return 0
    })
  },
}

type Format = (
  columns: readonly ArchivedColumn[],
  batches: AsyncIterable<readonly ArchivedRow[]>,
) => AsyncIterable<string>

const FORMATS = lookupTable<Format>({
  csv: async function* (columns, batches) {
    yield csvRow(columns.map(({ name }) => name))
    for await (const rows of batches)
      yield rows.map((row) => csvRow(columns.map((column) => readValue(row, column)))).join('')
  },
  jsonl: async function* (columns, batches) {
    for await (const rows of batches) yield rows.map((row) => `${toJson(columns, row)}\n`).join('')
  },
})

/** Integers with all of their digits, which `JSON.stringify` does not write. */
function toJson(columns: readonly ArchivedColumn[], row: ArchivedRow): string {
  const members = columns.map((column) => {
    const value = readValue(row, column)
    return `${JSON.stringify(column.name)}:${typeof value === 'bigint' ? value : JSON.stringify(value)}`
  })
  return `{${members.join(',')}}`
}

function readValue(row: ArchivedRow, { name, type }: ArchivedColumn): string | bigint | null {
  const value = row[name] ?? null
  return type === 'time' && typeof value === 'bigint' ? formatMicros(value) : value
}

const MICROS_DIGITS = 3

/** RFC 3339 with microseconds. */
function formatMicros(micros: bigint): string {
  const text = new Date(Number(micros / 1000n)).toISOString()
  return `${text.slice(0, -1)}${String(micros % 1000n).padStart(MICROS_DIGITS, '0')}Z`
}

/** Ends without an error if the reader of the output needs no more. */
async function print(text: AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(text), process.stdout, { end: false })
  } catch (error) {
    if (errorCodeOf(error) !== 'EPIPE') throw error
  }
}
