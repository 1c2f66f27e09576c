import type { NanoUsd } from '../../kernel/money.ts'

export const BATCH_STATUSES = [
  'validating',
  'failed',
  'in_progress',
  'finalizing',
  'completed',
  'expired',
  'cancelling',
  'cancelled',
] as const
export type BatchStatus = (typeof BATCH_STATUSES)[number]

/** Whether nothing of it is asked or written any more. */
export function hasEnded({ status }: Pick<Batch, 'status'>): boolean {
  return status === 'failed' || status === 'completed' || status === 'expired' || status === 'cancelled'
}

/** In which form clients made a batch and read it. */
export type BatchWire = 'batches' | 'messages'

/** Many requests in one file, asked in the background. */
export interface Batch {
  readonly id: string
  readonly accountId: string
  readonly projectId: string | null
  /** Whose rights the lines have. */
  readonly keyId: string
  readonly labels: readonly string[] | null
  readonly wire: BatchWire
  readonly endpoint: string
  /** Null while it is not known, and for lines of several models. */
  readonly model: string | null
  readonly inputFileId: string
  readonly outputFileId: string | null
  readonly errorFileId: string | null
  /** How long its files are kept. Null: until somebody deletes them. */
  readonly outputSeconds: number | null
  /** Whether it runs although the balance does not cover all of it. */
  readonly runsAsFar: boolean
  /** The most that a line may cost. Null: no limit of the batch. */
  readonly lineNanoUsdMax: NanoUsd | null
  readonly metadata: Readonly<Record<string, string>> | null
  /** Is called when the batch has ended. */
  readonly webhookUrl: string | null
  /** The address of the gateway as the client sees it, for addresses of files in answers. Null: not known. */
  readonly baseUrl: string | null
  readonly status: BatchStatus
  readonly errors: readonly LineProblem[] | null
  readonly linesTotal: number
  readonly linesCompleted: number
  readonly linesFailed: number
  readonly usage: BatchUsage
  readonly costNanoUsd: NanoUsd
  readonly estimatedNanoUsd: NanoUsd
  /** Since its lines are asked, up to its end. Null before. */
  readonly runningSeconds: number | null
  readonly createdAtMs: number
  readonly expiresAtMs: number
  readonly inProgressAtMs: number | null
  readonly finalizingAtMs: number | null
  readonly completedAtMs: number | null
  readonly failedAtMs: number | null
  readonly expiredAtMs: number | null
  readonly cancellingAtMs: number | null
  readonly cancelledAtMs: number | null
}

export interface BatchUsage {
  readonly inputTokens: number
  readonly cachedTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
}

/** What is wrong with a line, or with the whole file. */
export interface LineProblem {
  readonly code: string
  readonly message: string
  /** The wrong member. */
  readonly param: string | null
  /** From 1. Null for the file. */
  readonly line: number | null
}

/** A claim on a batch. Writes under a lost claim have no effect. */
export interface BatchClaim {
  readonly batchId: string
  readonly workerId: string
  readonly number: number
}

/** Tells all processes of a batch: its id and what happened. */
export const CHANGED_TOPIC = 'batches.changed'
