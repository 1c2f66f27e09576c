import { invalidValue, notFound } from '../../../kernel/app-error.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import type { Queryable } from '../../../storage/database.ts'
import { requireMoment } from '../require-moment.ts'
import type { AddedTogether, ModelChange } from './model-change.ts'
import type { ModelRules } from './model-rules.ts'
import { isAsInFile } from './costs-of-routes.ts'
import type { GivenCost, OfferedModel, OfferedPrice } from './offered-model.ts'
import { addPrice, replacePrice, withdrawPrice } from './write-price.ts'

type Members = Readonly<Record<string, unknown>>

export interface Author {
  readonly authorKeyId: string | null
  readonly reason: string | null
}

interface PriceInput extends Author {
  /**
   * Absent: that of now stays. One of the file stays that of the file, whatever the file says later. `of-file`: that of the file
   * from now on.
   */
  readonly price?: Members | 'of-file' | undefined
  /** What routes cost from then on. Absent: what they cost before. */
  readonly costs?: readonly GivenCost[] | undefined
  /** Null: at once. */
  readonly effectiveFromMs: number | null
}

/** Changes of the prices of any model, also one of the file. */
export interface PriceChanges {
  /** One of the future needs a price. */
  addPrice(id: string, input: PriceInput, together?: AddedTogether): Promise<ModelChange>
  /**
   * Withdraws one before it has effect. Ends the current one of a model of the file: from now on it has the price and the costs of
   * the file.
   */
  removePrice(id: string, version: bigint, author: Author, together?: AddedTogether): Promise<ModelChange>
}

interface PriceChangesOptions {
  readonly clock: Clock
  readonly rules: ModelRules
  readonly planned: (difference: Members, write: (transaction: Queryable) => Promise<bigint>) => ModelChange
  readonly readStored: (id: string, together?: AddedTogether) => Promise<OfferedModel>
  /** The latest first. */
  readonly readPrices: (id: string, together?: AddedTogether) => Promise<readonly OfferedPrice[]>
}

export function createPriceChanges(options: PriceChangesOptions): PriceChanges {
  const { clock, rules, planned, readStored, readPrices } = options
  /** The price list that is charged now. Undefined: that of the file. */
  const readCurrent = async (id: string, together?: AddedTogether): Promise<OfferedPrice | undefined> => {
    const nowMs = clock.nowMs()
    const prices = await readPrices(id, together)
    return prices.find(
      ({ withdrawnAtMs, effectiveFromMs }) => withdrawnAtMs === null && effectiveFromMs <= nowMs,
    )
  }

  return {
    addPrice: async (id, { price: given, costs, effectiveFromMs, authorKeyId, reason }, together) => {
      // The price of now is not that of then: another may be set for the time between.
      if (!isRecord(given) && effectiveFromMs !== null)
        throw invalidValue('price', 'Costs of the future need the price of that moment.')
      const ofFile = rules.fileEntryOf(id)
      const entry = ofFile ?? {
        ...(together?.models.get(id) ?? (await readStored(id, together)).entry),
        id,
      }
      const current = isRecord(given) ? undefined : await readCurrent(id, together)
      const isOfFile =
        ofFile !== null &&
        !isRecord(given) &&
        (given === 'of-file' || current === undefined || current.isOfFile)
      if (given === 'of-file' && !isOfFile)
        throw invalidValue('price', `The catalog file has no price of '${id}'.`)
      const price = isRecord(given) ? given : isOfFile ? membersOf(entry['price']) : (current?.price ?? {})
      const checked = rules.check({ ...entry, price }, { providers: together?.providers, costs: costs ?? [] })
      requireMoment('effective_from', effectiveFromMs, clock.nowMs())
      const from = effectiveFromMs === null ? null : new Date(effectiveFromMs).toISOString()
      const difference = {
        ...(given === undefined ? {} : { price: { from: null, to: price } }),
        ...(given === 'of-file' ? { source: 'file' } : {}),
        ...(costs === undefined ? {} : { costs: { from: null, to: costs } }),
        effective_from: { from: null, to: from },
        reason,
      }
      return planned(difference, (transaction) => {
        const nowMs = floorOf(clock)
        requireMoment('effective_from', effectiveFromMs, nowMs)
        const row = {
          model: id,
          price,
          rates: checked.rates,
          isOfFile,
          costs: costs === undefined ? null : checked.costs,
          authorKeyId,
          reason,
          nowMs,
        }
        return isRecord(given)
          ? addPrice(transaction, { ...row, effectiveFromMs: effectiveFromMs ?? nowMs })
          : replacePrice(transaction, current?.version ?? null, row)
      })
    },
    removePrice: async (id, version, author, together) => {
      const prices = await readPrices(id, together)
      const found = prices.find((one) => one.version === version)
      if (found === undefined) throw notFound('price list')
      const entry = rules.fileEntryOf(id)
      const current = await readCurrent(id, together)
      if (entry === null || current?.version !== version || isAsInFile(found, entry)) {
        const difference = { price: { from: found.price, to: null }, effective_from: isoOf(found) }
        return planned(difference, (transaction) => withdrawPrice(transaction, found, floorOf(clock)))
      }
      const price = membersOf(entry['price'])
      const { rates } = rules.check(entry)
      const row = { ...author, model: id, price, rates, isOfFile: true, costs: [] }
      return planned({ price: { from: found.price, to: price }, source: 'file' }, (transaction) =>
        replacePrice(transaction, version, { ...row, nowMs: floorOf(clock) }),
      )
    },
  }
}

function membersOf(value: unknown): Members {
  return isRecord(value) ? value : {}
}

/** Without parts of a millisecond, as it is stored. */
export function floorOf(clock: Clock): number {
  return Math.floor(clock.nowMs())
}

function isoOf({ effectiveFromMs }: OfferedPrice): string {
  return new Date(effectiveFromMs).toISOString()
}
