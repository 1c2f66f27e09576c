import type { Cancellation } from '../../kernel/cancellation.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { HandOver } from '../../providers/batch/hand-over.ts'
import type { BatchWay } from '../catalog/catalog.ts'
import type { Caller } from '../keys/keys.ts'
import type { InferenceRecord } from './inference-record.ts'

export interface InferenceRequest<Body> {
  readonly caller: Caller
  readonly body: Body
  /** The JSON text the body was parsed from. */
  readonly text: string
  /** Length of the text in UTF-8. */
  readonly bytes: number
  readonly requestId: string
  readonly record: InferenceRecord
  readonly cancellation: Cancellation
  /** The most that it may cost, whatever the upstream reports. A longer answer is not asked for. */
  readonly amountNanoUsdMax?: NanoUsd | undefined
  /** Only this provider may be asked, whatever other routes the model has. */
  readonly onlyProvider?: string | undefined
  /** Set for a line of a batch: which of the prices of batches it has. */
  readonly batchWay?: BatchWay | undefined
  /** Takes the place of the connection to the upstream: the line is handed to the vendor's batch API. Its answer takes hours. */
  readonly handOver?: HandOver | undefined
  /** Set for work that nobody waits for. It is called when somebody needs its slot, and cancels it. */
  readonly giveWay?: (() => void) | undefined
  /** The moment of its price list, since the epoch. Now by default. */
  readonly pricedAtMs?: number | undefined
  /** Headers of its wire that are forwarded to a provider of the same wire, as alternating names and values. */
  readonly headers?: readonly string[]
  /**
   * Called with the last payloads of a stream once its charge is durable. They are sent when it resolves. It must not reject.
   */
  readonly keepEnd?: ((last: readonly Buffer[]) => Promise<void>) | undefined
  /** Whether another worker repeats the work, so that this answer is discarded and not charged. Called before charging. */
  readonly isMadeAnew?: () => boolean
  /** Counts bytes of text that are read for the request, such as a stored conversation. Throws if there is no room for them. */
  readonly countRead?: (bytes: number) => void
  /** The client's identifier of the session that the request belongs to. */
  readonly sessionId?: () => string | undefined
  /** How many seconds the client is willing to wait for a sleeping model, as it sent it. */
  readonly wakeTimeout?: () => string | undefined
}
