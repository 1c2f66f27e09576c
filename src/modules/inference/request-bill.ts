import type { Clock } from '../../kernel/clock.ts'
import { uuidOfRequest } from '../../kernel/identifiers.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { Hold } from '../ledger/ledger.ts'
import type { InferenceRequest } from './inference-request.ts'

interface RequestBillOptions {
  readonly clock: Clock
  readonly hold: Hold
  readonly request: InferenceRequest<unknown>
  readonly startedMs: number
}

/** The money of one request: settled with what its record says was used, or released. The first of both counts. */
export class RequestBill {
  readonly #options: RequestBillOptions
  #isOpen = true

  constructor(options: RequestBillOptions) {
    this.#options = options
    this.#noteBalance()
  }

  /** No charge is above this. */
  get heldNanoUsd(): NanoUsd {
    return this.#options.hold.amountNanoUsd
  }

  /** Resolves when the charge is durable: from then on the end of the answer may leave. */
  settle({ isDelivered }: { isDelivered: boolean }): Promise<void> {
    if (!this.#isOpen) return Promise.resolve()
    this.#isOpen = false
    const { hold, request, startedMs, clock } = this.#options
    const { caller, record } = request
    const { usage } = record
    const settled = hold.settle({
      costNanoUsd: record.costNanoUsd ?? 0n,
      isDelivered,
      record: {
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
        completionTokens: usage?.completionTokens ?? 0,
        reasoningTokens: usage?.reasoningTokens ?? 0,
        latencyMs: Math.round(clock.nowMs() - startedMs),
        firstTokenMs: record.firstTokenMs === null ? null : Math.round(record.firstTokenMs),
        createdAtMs: startedMs,
      },
    })
    this.#noteBalance()
    return settled
  }

  release(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#options.hold.release()
  }

  #noteBalance(): void {
    const { hold, request } = this.#options
    request.record.balanceNanoUsd = hold.balanceNanoUsd
  }
}
