import type { Form, Line } from './vendor-answers.ts'

export interface VendorBatch {
  readonly id: string
  readonly form: Form
  readonly lines: readonly Line[]
  readonly name: string | null
  /** The input. */
  readonly file: string
  readonly createdAtMs: number
  looks: number
  isLost: boolean
  isCancelled: boolean
  isBilled: boolean
}

/** How each vendor shows a batch. */
export const SHOW_BATCH: Readonly<
  Record<Form, (batch: VendorBatch, hasEnded: boolean, results: () => object[]) => object>
> = {
  openai: (batch, hasEnded) => showNamed(batch, hasEnded),
  azure: (batch, hasEnded) => showNamed(batch, hasEnded),
  together: ({ id, file, createdAtMs }, hasEnded) => ({
    id,
    status: hasEnded ? 'COMPLETED' : 'IN_PROGRESS',
    created_at: new Date(createdAtMs).toISOString(),
    input_file_id: file,
    ...(hasEnded && { output_file_id: `out-${id}` }),
  }),
  anthropic: ({ id, lines, createdAtMs }, hasEnded) => ({
    id,
    type: 'message_batch',
    processing_status: hasEnded ? 'ended' : 'in_progress',
    created_at: new Date(createdAtMs).toISOString(),
    results_url: 'http://169.254.169.254/results',
    request_counts: { processing: 0, succeeded: lines.length, errored: 0, canceled: 0, expired: 0 },
  }),
  google: ({ id, name }, hasEnded, results) => ({
    name: `batches/${id}`,
    metadata: { displayName: name, state: hasEnded ? 'BATCH_STATE_SUCCEEDED' : 'BATCH_STATE_RUNNING' },
    ...(hasEnded ? { done: true, response: { inlinedResponses: { inlinedResponses: results() } } } : {}),
  }),
}

function showNamed({ id, name, file, createdAtMs }: VendorBatch, hasEnded: boolean): object {
  return {
    id,
    object: 'batch',
    status: hasEnded ? 'completed' : 'in_progress',
    created_at: Math.floor(createdAtMs / 1_000),
    metadata: { parkway_part: name },
    input_file_id: file,
    output_file_id: hasEnded ? `out-${id}` : null,
    error_file_id: null,
  }
}
