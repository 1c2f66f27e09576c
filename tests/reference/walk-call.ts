import type { TestAnswer } from '../support/start-test-gateway.ts'

/** How an operation is called. */
export interface Call {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: string
  /** Default: the example of the document. Null sends no body. */
  readonly body?: unknown
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

export type MakeCall = (operation: string, given?: Call) => Promise<TestAnswer['body']>
