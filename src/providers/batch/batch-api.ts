import type { HandedAnswer, HandedRequest } from './hand-over.ts'

/** Whether a vendor has a batch cannot be said yet. */
export const UNSURE = Symbol('unsure')

/** The batch API of a vendor: many requests at once, answered within a day, at a price of its own. Methods throw only `UpstreamError`. */
export interface BatchApi {
  /** How many lines one batch takes, and how many bytes they may have. */
  readonly linesMax: number
  readonly bytesMax: number
  /** What a line costs, in millionths of the price of a request. */
  readonly priceMillionths: bigint
  /** Whether a batch has a place for our name, so that it is found by it while it runs. */
  readonly isNamed: boolean
  /** Names the key that new batches are made with. Vendors show a batch to its own key only. */
  readonly keyMark: string
  /** Whether a request to this path may be a line. */
  takes(path: string): boolean
  writeLine(id: string, request: HandedRequest): string
  /** Returns the vendor's id of the batch. */
  submit(order: BatchOrder, call: BatchCall): Promise<string>
  /** Looks for a batch whose submission had no answer. Null: the vendor does not have it. */
  find(sought: SoughtBatch, call: BatchCall): Promise<string | typeof UNSURE | null>
  look(id: string, call: BatchCall): Promise<BatchState>
  /** The answers of a batch that has ended, in any order. What cannot be read is left out. */
  results(state: EndedBatch, call: BatchCall): AsyncGenerator<BatchResult, void>
  cancel(id: string, call: BatchCall): Promise<void>
  /** Deletes files that were uploaded for a batch of this name which was not made, or which nobody waits for. */
  clear?(upload: { readonly name: string; readonly sentAtMs: number }, call: BatchCall): Promise<void>
  /** Deletes what the vendor stores of a batch whose answers were read. */
  forget?(state: EndedBatch, call: BatchCall): Promise<void>
}

export interface BatchCall {
  readonly keyMark: string
  /** Without it, another key stands in for one that is not configured any more: vendors may show its batches to all keys of a customer. */
  readonly needsOwnKey?: boolean
  readonly signal: AbortSignal
}

interface BatchOrder {
  /** Ours, in the id of each line and, where the vendor has a place for it, in the batch. */
  readonly name: string
  /** Of all lines. */
  readonly path: string
  readonly model: string
  /** Without line ends. */
  readonly lines: readonly string[]
  /** Called right before the request that makes the batch. From then on it may exist. */
  readonly onCreate: () => Promise<void>
}

export interface SoughtBatch {
  readonly name: string
  readonly lineCount: number
  /** When it was first sent, since the epoch. */
  readonly sentAtMs: number
  /** Which of these ids belong to other batches of ours. */
  /** The vendor's ids of batches of this name that are known already. */
  readonly except?: ReadonlySet<string>
  readonly findKnown: (ids: readonly string[]) => Promise<ReadonlySet<string>>
}

export interface EndedBatch {
  readonly kind: 'ended'
  readonly id: string
  /** Where the answers are: the vendor's names of files. */
  readonly files: readonly string[]
  /** The vendor's names of files that nobody reads any more. */
  readonly leftFiles?: readonly string[]
  /** Answers that the vendor shows with the batch itself, in its form. */
  readonly inlined?: readonly unknown[]
}

export type BatchState =
  | EndedBatch
  | { readonly kind: 'running' }
  /** The vendor does not know it. */
  | { readonly kind: 'lost' }

export interface BatchResult extends HandedAnswer {
  /** Of the line. */
  readonly id: string
}

/** The id of a line, which vendors limit to 64 letters, digits, `-` and `_`. */
export function lineIdOf(name: string, number: number): string {
  return `${name}-${number}`
}

/** Returns the number of the line of a batch, or null for an id that is not of this batch. */
export function lineNumberOf(name: string, id: string): number | null {
  const digits = id.startsWith(`${name}-`) ? id.slice(name.length + 1) : ''
  return /^[1-9]\d{0,8}$/.test(digits) ? Number(digits) : null
}
