import { parentPort } from 'node:worker_threads'
import type { PriceList } from './price-list.ts'
import { NotAPriceList, readPriceList, type PriceListFormat } from './read-price-list.ts'

/** A list as it was sent or fetched. */
export interface PriceListText {
  readonly text: string
  readonly format: PriceListFormat
}

/** The list, or why it is none. */
export type ReadPriceList = { readonly list: PriceList } | { readonly problem: string }

/** The thread that reads price lists, which have megabytes, one at a time. */
parentPort?.on('message', ({ text, format }: PriceListText) => {
  parentPort?.postMessage(read(text, format), [])
})

parentPort?.postMessage('ready', [])

function read(text: string, format: PriceListFormat): ReadPriceList {
  try {
    return { list: readPriceList(text, format) }
  } catch (error) {
    if (error instanceof NotAPriceList) return { problem: error.message }
    throw error
  }
}
