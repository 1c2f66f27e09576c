import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import type { SealedColumn } from '../../../storage/sealed-columns.ts'

export const PREFETCH_STATUSES = ['downloading', 'complete', 'cancelled', 'failed', 'not_found'] as const
type PrefetchStatus = (typeof PREFETCH_STATUSES)[number]

/** The download of a model before an account deploys it. */
export interface Prefetch {
  readonly huggingfaceId: string
  readonly status: PrefetchStatus
  readonly commit: string | null
  readonly doneBytes: number
  /** Null for status `not_found`. */
  readonly sizeBytes: number | null
  readonly errorMessage: string | null
}

const Files = Type.Array(
  Type.Object({
    path: Type.String(),
    sizeBytes: Type.Integer(),
    checksum: Type.Object({ kind: Type.Enum(['sha256', 'git']), hex: Type.String() }),
  }),
)
export type PrefetchFiles = Static<typeof Files>

/** Throws if the stored list is malformed. */
export const parseFiles = (files: unknown): PrefetchFiles => Value.Parse(Files, files)

export interface PrefetchRow {
  readonly account_id: string
  readonly huggingface_id: string
  readonly commit: string
  readonly files: unknown
  readonly status: Exclude<PrefetchStatus, 'not_found'>
  readonly size_bytes: bigint
  readonly done_bytes: bigint
  readonly error_message: string | null
  readonly sealed_token: Buffer | null
  readonly number: number
  readonly attempt: number
}

export function prefetchFromRow(row: PrefetchRow): Prefetch {
  return {
    huggingfaceId: row.huggingface_id,
    status: row.status,
    commit: row.commit,
    doneBytes: Number(row.done_bytes),
    sizeBytes: Number(row.size_bytes),
    errorMessage: row.error_message,
  }
}

/** Returns the place that the token of a download is sealed for. */
export function placeOf({
  account_id: accountId,
  huggingface_id: modelId,
}: Pick<PrefetchRow, 'account_id' | 'huggingface_id'>): string {
  return `prefetch ${accountId} ${modelId}`
}

export const SEALED_PREFETCH_TOKENS: SealedColumn = {
  table: 'model_prefetches',
  column: 'sealed_token',
  key: { account_id: 'uuid', huggingface_id: 'text' },
  boundTo: ['account_id', 'huggingface_id'],
  placeOf: (account_id, huggingface_id) => placeOf({ account_id, huggingface_id }),
}
