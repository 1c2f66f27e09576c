import { AppError } from '../../kernel/app-error.ts'
import { isRecord } from '../../kernel/is-record.ts'
import { isStorable } from '../../kernel/storable-text.ts'
import type { CatalogModel } from './catalog-model.ts'
import { readEntry } from './load-catalog.ts'
import { toStoredPrice, type StoredPrice } from './stored-price.ts'

/** A model that an operator gives, as it would be used. */
export interface CheckedEntry {
  readonly model: CatalogModel
  /** The exact integers of its price. */
  readonly rates: StoredPrice
}

/** As large as the largest entries of the built-in catalog several times over. */
const ENTRY_CHARACTERS_MAX = 32_768
const PROBLEMS_SHOWN_MAX = 10

/** Reads an entry by the rules of the catalog file. Throws `invalid_value` with what is wrong. */
export function checkEntry(entry: Readonly<Record<string, unknown>> & { readonly id: string }): CheckedEntry {
  if (JSON.stringify(entry).length > ENTRY_CHARACTERS_MAX)
    throw invalid(`A model has at most ${ENTRY_CHARACTERS_MAX} characters.`)
  if (!isPlain(entry)) throw invalid('A text has characters that cannot be stored.')
  const problems: string[] = []
  const model = readEntry({ place: '', entry }, problems)
  if (model === null || problems.length > 0)
    throw invalid(
      problems
        .slice(0, PROBLEMS_SHOWN_MAX)
        .map((problem) => problem.replace(/^\./, ''))
        .join('; '),
    )
  return { model, rates: toStoredPrice(model.price) }
}

function invalid(message: string): AppError {
  return new AppError('invalid_value', message)
}

/** Texts are shown in pages, logs and headers, so that none may have control characters. */
function isPlain(value: unknown): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what it refuses
  if (typeof value === 'string') return isStorable(value) && !/[\u0000-\u001f\u007f]/.test(value)
  if (Array.isArray(value)) return value.every(isPlain)
  return !isRecord(value) || Object.entries(value).every(([name, one]) => isPlain(name) && isPlain(one))
}
