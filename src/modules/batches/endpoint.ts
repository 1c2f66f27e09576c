import type { AppError } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { InferenceRecord } from '../inference/inference.ts'
import type { CatalogModel } from '../catalog/catalog.ts'
import type { Caller } from '../keys/keys.ts'
import type { RateStates } from '../limits/limits.ts'
import type { HandedCall, Handing } from './handed/handing.ts'

/** A route whose requests may be lines of a batch. */
export interface BatchEndpoint {
  readonly path: string
  /** Throws an `AppError` that names the wrong member. */
  check(body: unknown): void
  /** Throws if the model does not exist, cannot do this, or the caller may not use it. Null for a body without a model. */
  quote(caller: Caller, body: unknown): LineQuote | null
  /** How long answers usually are at least, for the memory of those that come at once. Without it: those of text. */
  readonly answerBytesUsual?: number
  /** Whose batch API the route that comes first has, if lines may be handed to it. */
  handingOf(caller: Caller, body: unknown): Handing | null
  /** Asks a body and returns the answer as JSON. It has the limits, holds and charges of a request over HTTP. */
  ask(call: LineCall): Promise<string>
  /** What a client gets for an error. */
  describeError(error: AppError, requestId: string): { readonly status: number; readonly body: string }
}

export interface LineQuote {
  readonly model: CatalogModel
  /** What it may cost. Null: this is computed from the tokens that the body has and allows. */
  readonly nanoUsd: NanoUsd | null
}

export interface LineCall {
  readonly caller: Caller
  readonly body: unknown
  readonly requestId: string
  readonly cancellation: Cancellation
  /** The address of the gateway as the client sees it, for addresses of files in answers. Undefined: not known. */
  readonly baseUrl: string | undefined
  /** Set for a line that is handed to a vendor's batch API. Its limits are the vendor's. */
  readonly handed: HandedCall | null
  /** Cancels the line, because somebody waits for the slot that it has. */
  readonly giveWay: () => void
  /** The most that the line may cost. Missing: no limit of its batch. */
  readonly amountNanoUsdMax?: NanoUsd
  /** Whether the line is asked again, so that this answer is discarded and not charged. */
  readonly isMadeAnew: () => boolean
  /** Called with the record of the call, and with what is left of the rates of its key, once the limits admit it. */
  readonly onAdmitted: (record: InferenceRecord, rates: RateStates) => void
}

/** The endpoint of a path, or undefined. */
export type FindEndpoint = (path: string) => BatchEndpoint | undefined

export function requireEndpoint(findEndpoint: FindEndpoint, path: string): BatchEndpoint {
  const endpoint = findEndpoint(path)
  if (endpoint === undefined) throw new Error(`a batch asks '${path}', which takes no batches`)
  return endpoint
}

/** The same endpoint, where no line costs more than lines of the batch may. */
export function limitLines(
  endpoint: BatchEndpoint,
  { lineNanoUsdMax }: { readonly lineNanoUsdMax: NanoUsd | null },
): BatchEndpoint {
  if (lineNanoUsdMax === null) return endpoint
  return { ...endpoint, ask: (call) => endpoint.ask({ ...call, amountNanoUsdMax: lineNanoUsdMax }) }
}
