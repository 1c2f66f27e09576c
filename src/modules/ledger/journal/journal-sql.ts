import { COST_SUMMED, UNKNOWN_COST } from './cost-arrays.ts'
import { JOURNAL_ARRAYS, LABEL_SEPARATOR, NO_FIRST_TOKEN_MS, RARELY_SUMMED } from './journal-text.ts'

type ArrayName = keyof typeof JOURNAL_ARRAYS

/** SQL for the columns of one element, by its number in the array. */
function elementAt(array: ArrayName, number: string): string {
  const { columns } = JOURNAL_ARRAYS[array]
  return columns
    .map(
      (column, index) =>
        `${array}[${columns.length} * ${number} - ${columns.length - index - 1}] AS ${column}`,
    )
    .join(', ')
}

/** SQL that returns one row for each element number. */
function countElements(array: ArrayName): string {
  return `generate_series(1, cardinality(${array}) / ${JOURNAL_ARRAYS[array].columns.length})`
}

/** A FROM item `opened`: each row of `journal`, which has a text `charges`, with its arrays and its size in bytes. */
export function openJournal(journal: string): string {
  const arrays = Object.entries(JOURNAL_ARRAYS).map(
    ([name, { type }], index) => `field[${index + 1}]::${type}[] AS ${name}`,
  )
  return `(
    SELECT sequence, bytes, ${arrays.join(', ')}
    FROM (
      SELECT sequence, octet_length(charges) AS bytes, string_to_array(charges, E'\\x1F') AS field FROM ${journal}
      -- Keeps the text from being split for each of its arrays.
      OFFSET 0
    ) AS split
  ) AS opened`
}

/** A FROM item `charge`: the charges in `opened`, with the columns of usage_records, and the `number` each has in its commit. */
export function unfoldCharges(opened: string): string {
  return `(
    SELECT sequence, number, ${elementAt('owners', 'series')}, ${elementAt('names', 'series')}, id, ${CHARGE_COLUMNS},
      coalesce(uncovered_nano_usd, 0) AS uncovered_nano_usd, coalesce(owed_nano_usd, 0) AS owed_nano_usd,
      nullif(details, '') AS details, ${LABELS}, ${RARE_COLUMNS},
      nullif(vendor_cost_nano_usd, ${UNKNOWN_COST}) AS vendor_cost_nano_usd
    FROM (
      SELECT sequence, owners, names, labels, number, ${elementAt('ids', 'number')}, ${elementAt('figures', 'number')},
        ${elementAt('uncovered', 'number')}, ${elementAt('writes', 'number')}, ${elementAt('details', 'number')},
        ${elementAt('owed', 'number')}, ${elementAt('units', 'number')}, ${elementAt('vendor_costs', 'number')}
      FROM (SELECT *, ${countElements('ids')} AS number FROM ${opened}) AS numbered
    ) AS labelled
  ) AS charge`
}

const CHARGE_COLUMNS = JOURNAL_ARRAYS.figures.columns
  .slice(1)
  .map((column) =>
    column === 'first_token_ms' ? `nullif(${column}, ${NO_FIRST_TOKEN_MS}) AS ${column}` : column,
  )
  .join(', ')

/** Null without any. */
const LABELS = `string_to_array(nullif(labels[series], ''), '${LABEL_SEPARATOR}') AS labels`

/** Zero if the text does not have their array. */
const RARE_COLUMNS = orZero(RARELY_SUMMED)
const COST_COLUMNS = orZero(COST_SUMMED)

function orZero(columns: readonly string[]): string {
  return columns.map((column) => `coalesce(${column}, 0) AS ${column}`).join(', ')
}

/** A FROM item `added`: the sums of the charges of each series in `opened`, with its labels. */
export function unfoldSums(opened: string): string {
  const columns = (['owners', 'names', 'sums', 'write_sums', 'unit_sums', 'vendor_cost_sums'] as const).map(
    (array) => elementAt(array, 'series'),
  )
  const common = [
    ...JOURNAL_ARRAYS.owners.columns,
    ...JOURNAL_ARRAYS.names.columns,
    ...JOURNAL_ARRAYS.sums.columns,
  ]
  return `(
    SELECT ${common.join(', ')}, ${RARE_COLUMNS}, ${COST_COLUMNS}, labels FROM (
      SELECT ${columns.join(', ')}, ${LABELS} FROM (SELECT *, ${countElements('sums')} AS series FROM ${opened}) AS numbered
    ) AS summed
  ) AS added`
}

/** A FROM item `payment`: the amount each lease pays for each charge in `opened`, by charge number. */
export function unfoldPayments(opened: string): string {
  return `(
    SELECT sequence, ${elementAt('payments', 'payment')}
    FROM (SELECT *, ${countElements('payments')} AS payment FROM ${opened}) AS counted
  ) AS payment`
}
