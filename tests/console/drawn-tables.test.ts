import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { writeCsv } from '../../console/src/ui/data/write-csv.ts'
import { csvRow } from '../../src/http/answers/csv-row.ts'

const PAGES = join(import.meta.dirname, '../../console/src')
const files = readdirSync(PAGES, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.tsx'))
  .map((path) => ({ path, text: readFileSync(join(PAGES, path), 'utf8') }))

/** The one table with sorting, columns and a file, and the one for what is no list. */
const DRAWN = 'ui/data/table/drawn-table.tsx'
const FIXED = 'ui/data/fixed-table.tsx'

/** Tables that nobody sorts or saves. Each says why. A list of things does not belong here. */
const FIXED_TABLES = [
  'pages/audit/entry-sheet.tsx',
  'pages/compare-run/cell-grid.tsx',
  'pages/model/price-table.tsx',
  'pages/organization/roles-tab.tsx',
  'pages/playground/kinds/embedding-result.tsx',
  'pages/playground/kinds/moderation-result.tsx',
]

const filesWith = (pattern: RegExp): string[] =>
  files.filter(({ text }) => pattern.test(text)).map(({ path }) => path)

describe('the tables of the console', () => {
  test('are drawn by two components, of which pages use one only with the tools of a table', () => {
    expect(files.length).toBeGreaterThan(300)
    expect(filesWith(/<table\b|role="(?:table|grid|treegrid)"/).toSorted()).toEqual([FIXED, DRAWN])
    expect(filesWith(/<DrawnTable\b|createElement\(.?(?:DrawnTable|table)/)).toEqual([
      'ui/data/data-table.tsx',
    ])
  })

  test('are sorted, have columns to choose and are saved', () => {
    const without = files.flatMap(({ path, text }) =>
      text
        .split(/<(?:DataTable|PagedTable)(?=\s)/)
        .slice(1)
        .filter((rest) => !/^[^]*?\btools=\{/.test(rest.slice(0, rest.indexOf('/>'))))
        .map(() => path),
    )
    expect(without).toEqual([])
    expect(filesWith(/<(?:DataTable|PagedTable)\s/).length).toBeGreaterThan(40)
  })

  test('say why nobody sorts or saves them where they are no lists', () => {
    expect(filesWith(/<FixedTable\s/).toSorted()).toEqual(FIXED_TABLES)
    const reasons = files.flatMap(({ text }) =>
      [...text.matchAll(/<FixedTable\s[^]*?\sreason="([^"]+)"/g)].map(([, reason = '']) => reason),
    )
    expect(reasons.filter((reason) => reason.length > 20)).toHaveLength(FIXED_TABLES.length)
  })
})

test('a file of the console escapes what a file of the API escapes', () => {
  const hostile = ['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', '\nx', 'a,b', 'a"b', 'a\r\nb', 'plain', '']
  for (const text of hostile) {
    const [, row] = writeCsv(['name', 'count'], [{ name: text, count: -2 }]).split(/(?<=^name,count\r\n)/)
    expect(row).toBe(csvRow([text, -2]))
  }
})
