import { uuidOfRequest } from '../../../kernel/identifiers.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import { COUNTED_NOTHING, type Counted } from '../../catalog/catalog.ts'
import type { Hold, UncoveredCost, UsageRecord, VendorCost } from '../../ledger/ledger.ts'
import type { InferenceRequest } from '../inference-request.ts'
import type { InferenceRecord } from '../inference-record.ts'
import { packDetails } from '../request-details.ts'
import { countForKey, endKeyUses } from './end-key-uses.ts'

interface RequestBillOptions {
  readonly hold: Hold
  /** The most that one answer of the model can cost. Null if no upstream can report too much. */
  readonly ceilingNanoUsd: () => NanoUsd | null
  readonly request: InferenceRequest<unknown>
  /** What the vendor charges for what was counted. Undefined if it is not known. */
  readonly vendorCostOf: (record: InferenceRecord, counted: Counted) => VendorCost | undefined
  /** Since the epoch. */
  readonly startedMs: number
  /** Called with the usage of a complete answer. */
  readonly onCompleted: (charged: UsageRecord, record: InferenceRecord) => void
  readonly onUncovered: (uncovered: UncoveredCost) => void
}

/** The bill of one request: settled with the recorded usage, or released. Only the first of the two takes effect. */
export class RequestBill {
  readonly #options: RequestBillOptions
  #isOpen = true
  #covering: Promise<void> | null = null
  #isCovered = false
  #owedNanoUsd: NanoUsd = 0n

  constructor(options: RequestBillOptions) {
    this.#options = options
    this.#noteBalance()
  }

  /** Whether it is neither settled nor released. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Upper limit of the charge. */
  get heldNanoUsd(): NanoUsd {
    return this.#options.hold.amountNanoUsd
  }

  /** Set while more credit is being held. The final cost is known when it resolves. */
  get covering(): Promise<void> | null {
    return this.#covering
  }

  /**
   * Notes the answer's cost. If it is more than was held, tries to hold the rest as far as the balance allows, up to what the model
   * can cost at all: an upstream that reports more has a defect, and its account does not pay for that. The price follows from what was
   * counted and the price list.
   */
  charge(priceNanoUsd: NanoUsd, counted: Counted): NanoUsd {
    const { hold, request } = this.#options
    if (this.#isOpen) request.record.counted = counted
    const covering =
      priceNanoUsd <= hold.amountNanoUsd || this.#isCovered || !this.#isOpen
        ? null
        : hold.cover(this.#boundPrice(priceNanoUsd))
    if (covering !== null) {
      // Done once: credit that was missing then is not requested again.
      this.#isCovered = true
      this.#covering = covering.then(() => {
        this.#covering = null
        this.#noteCost(priceNanoUsd)
      })
    }
    return this.#noteCost(priceNanoUsd)
  }

  #noteCost(priceNanoUsd: NanoUsd): NanoUsd {
    const { hold, request } = this.#options
    const costNanoUsd = priceNanoUsd < hold.amountNanoUsd ? priceNanoUsd : hold.amountNanoUsd
    request.record.costNanoUsd = costNanoUsd
    request.record.uncoveredNanoUsd = priceNanoUsd - costNanoUsd
    this.#owedNanoUsd =
      priceNanoUsd > costNanoUsd && hold.isShort ? this.#boundPrice(priceNanoUsd) - costNanoUsd : 0n
    return costNanoUsd
  }

  #boundPrice(priceNanoUsd: NanoUsd): NanoUsd {
    const { amountNanoUsdMax } = this.#options.request
    const boundNanoUsd = this.#boundByModel(priceNanoUsd)
    return amountNanoUsdMax !== undefined && boundNanoUsd > amountNanoUsdMax ? amountNanoUsdMax : boundNanoUsd
  }

  #boundByModel(priceNanoUsd: NanoUsd): NanoUsd {
    const { amountNanoUsd } = this.#options.hold
    const ceilingNanoUsd = this.#options.ceilingNanoUsd()
    if (ceilingNanoUsd === null) return priceNanoUsd
    const mostNanoUsd = ceilingNanoUsd > amountNanoUsd ? ceilingNanoUsd : amountNanoUsd
    return priceNanoUsd < mostNanoUsd ? priceNanoUsd : mostNanoUsd
  }

  /** Resolves when the charge is durable. The end of the answer may then be sent. */
  settle({ isDelivered }: { isDelivered: boolean }): Promise<void> {
    if (!this.#isOpen) return Promise.resolve()
    if (this.#covering !== null) return this.#covering.then(() => this.settle({ isDelivered }))
    if (this.#options.request.isMadeAnew?.() === true) return this.#giveUp()
    this.#isOpen = false
    const { hold, request, startedMs } = this.#options
    const { caller, record } = request
    record.isBilled = true
    const { usage, uncoveredNanoUsd } = record
    const owedNanoUsd = this.#owedNanoUsd
    if (uncoveredNanoUsd > 0n) {
      const { requestId } = request
      const { accountId } = caller
      const { model } = record
      this.#options.onUncovered({ requestId, accountId, model, uncoveredNanoUsd, owedNanoUsd })
    }
    const counted = record.counted ?? COUNTED_NOTHING
    const vendorCost = this.#options.vendorCostOf(record, counted)
    if (record.keyUses.length > 0) endKeyUses(record, countForKey(record, vendorCost))
    const usageRecord: UsageRecord = {
      id: uuidOfRequest(request.requestId),
      accountId: caller.accountId,
      keyId: caller.keyId,
      environment: caller.environment,
      operation: record.operation,
      model: record.model ?? '',
      provider: record.provider ?? '',
      outcome: record.outcome === 'running' ? 'completed' : record.outcome,
      promptTokens: usage?.promptTokens ?? 0,
      cachedTokens: usage?.cachedTokens ?? 0,
      cacheWriteTokens: usage?.cacheWriteTokens ?? 0,
      completionTokens: usage?.completionTokens ?? 0,
      reasoningTokens: usage?.reasoningTokens ?? 0,
      latencyMs: toMilliseconds(performance.now() - record.startedMs),
      firstTokenMs: record.firstTokenMs === null ? null : toMilliseconds(record.firstTokenMs),
      createdAtMs: toTime(startedMs),
      details: packDetails(record),
      priceVersion: record.priceVersion ?? undefined,
      counted: record.priceVersion === null ? undefined : counted,
      vendorCost,
      units: record.units,
      labels: caller.labels,
    }
    if (usageRecord.outcome === 'completed') this.#options.onCompleted(usageRecord, record)
    const settled = hold.settle({
      costNanoUsd: record.costNanoUsd ?? 0n,
      uncoveredNanoUsd,
      owedNanoUsd,
      isDelivered,
      record: usageRecord,
    })
    this.#noteBalance()
    return settled
  }

  /** Another worker repeats the answer and charges it under the same id. */
  #giveUp(): Promise<void> {
    const { record } = this.#options.request
    record.costNanoUsd = 0n
    record.uncoveredNanoUsd = 0n
    this.release()
    return Promise.resolve()
  }

  release(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    endKeyUses(this.#options.request.record)
    this.#options.hold.release()
  }

  #noteBalance(): void {
    const { hold, request } = this.#options
    request.record.balanceNanoUsd = hold.balanceNanoUsd
  }
}

/** Limits of the columns: an odd clock value must not make a charge fail. */
const MILLISECONDS_MAX = 2_147_483_647
/** The year 9999, which both JavaScript and the database can represent. */
const TIME_MS_MAX = 253_370_764_800_000

function toMilliseconds(durationMs: number): number {
  return Number.isFinite(durationMs) ? Math.min(Math.max(Math.round(durationMs), 0), MILLISECONDS_MAX) : 0
}

function toTime(epochMs: number): number {
  return Number.isFinite(epochMs) ? Math.min(Math.max(Math.trunc(epochMs), 0), TIME_MS_MAX) : 0
}
