import { createHash } from 'node:crypto'
import { AppError, invalidValue } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { OutboundFailed, OutboundRefused, type Outbound } from '../../outbound/outbound.ts'
import { modelAt, type Catalog } from '../catalog/catalog.ts'
import type { ModelChange, Offer } from '../offer/offer.ts'
import { comparePrices, type Comparison, type PriceDifference } from './compare-prices.ts'
import { readInThread } from './read-in-thread.ts'
import type { PriceListFormat } from './read-price-list.ts'
import { toModelInput } from './to-model-input.ts'

export type { PriceDifference } from './compare-prices.ts'
export { PRICE_LIST_FORMATS } from './read-price-list.ts'

/** Where a list comes from. */
export interface PriceSource {
  readonly format: PriceListFormat
  readonly from: { readonly text: string } | { readonly url: string }
}

interface PriceImport extends Comparison {
  /** Names this content of the list. */
  readonly digest: string
}

/** What is taken from a list. */
interface AcceptedPrices {
  /** The list that was looked at. */
  readonly digest: string
  /** Models by our ids. Null: all that are changed and not suspicious. Nothing new is added without being named. */
  readonly models: readonly string[] | null
  readonly effectiveFromMs: number | null
  readonly authorKeyId: string | null
  readonly reason: string | null
}

/** A change that is checked and not made yet. */
interface PlannedPrice {
  readonly status: 'changed' | 'new'
  readonly model: string
  readonly change: ModelChange
}

/** Public price lists: they are compared with the prices of this gateway, and taken only where an operator says so. */
export interface PriceImports {
  /** Throws `invalid_value` for what is no price list. Nothing is changed. */
  compare(source: PriceSource, owner: string): Promise<PriceImport>
  /** Checks everything before the first change is made. Throws `conflict` if the list is another one by now. */
  plan(source: PriceSource, accepted: AcceptedPrices, owner: string): Promise<readonly PlannedPrice[]>
}

interface PriceImportOptions {
  readonly catalog: Pick<Catalog, 'listAll'>
  readonly models: Offer['models']
  readonly isConfigured: (provider: string) => boolean
  readonly outbound: Pick<Outbound, 'fetch'>
  readonly clock: Clock
}

const PRICE_LIST_BYTES_MAX = 16 * 1024 * 1024
const FETCH_MS_MAX = 30_000
const REDIRECTS_MAX = 3
const REASON = 'Taken from a price list.'

export function createPriceImports(options: PriceImportOptions): PriceImports {
  const { catalog, models, isConfigured, clock } = options

  const compare = async ({ format, from }: PriceSource, owner: string): Promise<PriceImport> => {
    const text = 'text' in from ? from.text : await fetchList(from.url, options)
    const list = await readInThread({ text, format }, owner)
    const nowMs = clock.nowMs()
    const current = catalog.listAll().map((timed) => modelAt(timed, nowMs))
    const digest = createHash('sha256').update(format).update('\0').update(text).digest('hex')
    return { digest, ...comparePrices(list, { models: current, isConfigured }) }
  }

  /** As its other models name it. */
  const nameVendor = (provider: string): string =>
    catalog.listAll().find(({ first }) => first.routes[0]?.provider === provider)?.first.vendor ?? provider

  return {
    compare,
    plan: async (source, accepted, owner) => {
      const { digest, differences } = await compare(source, owner)
      if (digest !== accepted.digest)
        throw new AppError(
          'conflict',
          'The price list is another one than the one that was looked at. Look again.',
        )
      const planned: PlannedPrice[] = []
      for (const one of choose(differences, accepted.models)) {
        const { authorKeyId, effectiveFromMs } = accepted
        const reason = accepted.reason ?? REASON
        const change =
          one.status === 'changed'
            ? models.addPrice(one.model, { price: one.price, effectiveFromMs, authorKeyId, reason })
            : models.add({
                ...toModelInput(one.listed, nameVendor(one.listed.provider)),
                authorKeyId,
                reason,
              })
        planned.push({ status: one.status, model: one.model, change: await change })
      }
      return planned
    },
  }
}

type Acceptable = Exclude<PriceDifference, { status: 'gone' }>

function choose(
  differences: readonly PriceDifference[],
  named: readonly string[] | null,
): readonly Acceptable[] {
  const acceptable = differences.filter((one): one is Acceptable => one.status !== 'gone')
  if (named === null) return acceptable.filter((one) => one.status === 'changed' && !one.isSuspicious)
  return [...new Set(named)].map((model, index) => {
    const found = acceptable.find((one) => one.model === model)
    if (found === undefined)
      throw invalidValue(`models.${index}`, 'The price list has no difference for this model.')
    return found
  })
}

async function fetchList(url: string, { outbound }: PriceImportOptions): Promise<string> {
  try {
    const answer = await outbound.fetch({
      url,
      bytesMax: PRICE_LIST_BYTES_MAX,
      timeoutMs: FETCH_MS_MAX,
      redirectsMax: REDIRECTS_MAX,
    })
    if (answer.status !== 200) {
      answer.discard()
      throw invalidValue('url', `The address answered ${answer.status}.`)
    }
    const chunks: Uint8Array[] = []
    for await (const chunk of answer.body) chunks.push(chunk)
    return Buffer.concat(chunks).toString('utf8')
  } catch (error) {
    if (error instanceof OutboundRefused || error instanceof OutboundFailed)
      throw invalidValue('url', error.message)
    throw error
  }
}
