import type { Case } from '../case.ts'
import type { PlannedWork } from '../vendors/planned-work.ts'
import type { SentRequest, WrittenRequest } from './send-request.ts'

/** A case while it runs. */
export interface RunningCase {
  readonly made: Case
  readonly planned: PlannedWork
  readonly request: WrittenRequest
  readonly accountId: string
  /** The route of the key that sends the request, for operators. */
  readonly keyPath: string
  /** The statuses of the answers so far. */
  readonly statuses: (number | null)[]
  send(): SentRequest
  /** Calls the gateway as its operator. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers and fail loudly on a wrong shape
  manage(method: string, path: string, body?: unknown): Promise<any>
  /** Calls the gateway with another key of the account. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers and fail loudly on a wrong shape
  ask(method: string, path: string): Promise<any>
}
