import { visit } from 'jsonc-parser'
import { isRecord } from '../../kernel/is-record.ts'
import type { PriceList } from './price-list.ts'
import { readLitellm } from './read-litellm.ts'
import { readModelsDev } from './read-models-dev.ts'

export const PRICE_LIST_FORMATS = ['litellm', 'models.dev'] as const
export type PriceListFormat = (typeof PRICE_LIST_FORMATS)[number]

/** The file is not a price list. The message says why. */
export class NotAPriceList extends Error {
  override readonly name = 'NotAPriceList'
}

const ENTRIES_MAX = 50_000
/** Deeper than any list is: an object of providers, of models, of their prices and steps. */
const DEPTH_MAX = 12

/** Reads a public price list. What cannot be believed is listed and not used. Throws a `NotAPriceList`. */
export function readPriceList(text: string, format: PriceListFormat): PriceList {
  requireShallow(text)
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    throw new NotAPriceList('The file is not JSON.')
  }
  if (!isRecord(content)) throw new NotAPriceList('The file is not an object.')
  const { duplicates, count } = findDuplicates(text, format)
  if (count > ENTRIES_MAX) throw new NotAPriceList(`The file has more than ${ENTRIES_MAX} models.`)
  const list = format === 'litellm' ? readLitellm(content, duplicates) : readModelsDev(content, duplicates)
  if (list.models.length + list.problems.length === 0)
    throw new NotAPriceList(`The file has no entry of a known provider in the form of ${format}.`)
  return list
}

/** The parser of duplicates is recursive. */
function requireShallow(text: string): void {
  let depth = 0
  let isText = false
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (isText) {
      if (code === 0x5c) index += 1
      else if (code === 0x22) isText = false
    } else if (code === 0x22) isText = true
    else if (code === 0x7b || code === 0x5b) {
      depth += 1
      if (depth > DEPTH_MAX) throw new NotAPriceList('The file is nested deeper than a price list is.')
    } else if (code === 0x7d || code === 0x5d) depth -= 1
  }
}

/** Where the names of models stand. */
const PLACES: Readonly<Record<PriceListFormat, (path: readonly unknown[]) => boolean>> = {
  litellm: (path) => path.length === 0,
  'models.dev': (path) => path.length === 2 && path[1] === 'models',
}

/** A parser keeps the last of two members with one name. Which of them is right, nobody knows. */
function findDuplicates(
  text: string,
  format: PriceListFormat,
): { readonly duplicates: ReadonlySet<string>; readonly count: number } {
  const seen = new Set<string>()
  const duplicates = new Set<string>()
  visit(text, {
    onObjectProperty: (name, _offset, _length, _line, _character, pathOf) => {
      const path = pathOf()
      if (!PLACES[format](path)) return
      const key = [...path.slice(0, 1), name].join('/')
      if (seen.has(key)) duplicates.add(key)
      seen.add(key)
    },
  })
  return { duplicates, count: seen.size }
}
