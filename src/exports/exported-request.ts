/** What an export says of a request. Prompts and answers are no part of it. Operators see more of a request than its account. */
export interface ExportedRequest {
  readonly object: 'exported_request'
  /** Grows with every request of the stream. */
  readonly number: number
  readonly request_id: string
  readonly created_at: string
  readonly recorded_at: string
  readonly account_id: string
  readonly account_name: string | null
  readonly project_id: string | null
  readonly key_id: string
  readonly key_name: string | null
  readonly env: string
  readonly operation: string
  readonly requested_model: string | null
  readonly model: string | null
  readonly provider: string | null
  /** Their names in the GenAI conventions of OpenTelemetry. */
  readonly gen_ai_operation: string
  readonly gen_ai_provider: string | null
  readonly outcome: 'completed' | 'disconnected' | 'failed' | 'refused'
  /** Whether it is charged. A request without a charge has no tokens and no cost. */
  readonly charged: boolean
  readonly http_status: number | null
  readonly error_code: string | null
  readonly error_message: string | null
  readonly upstream_status: number | null
  readonly upstream_code: string | null
  readonly upstream_message: string | null
  readonly stream: boolean | null
  readonly batch: boolean
  readonly latency_ms: number
  readonly ttft_ms: number | null
  readonly prompt_tokens: number
  readonly cached_tokens: number
  readonly cache_write_tokens: number
  readonly completion_tokens: number
  readonly reasoning_tokens: number
  /** Images, seconds or characters, of operations without tokens. */
  readonly units: number
  readonly cost_nano_usd: number
  readonly promotional_nano_usd: number
  readonly uncovered_nano_usd: number
  readonly vendor_cost_nano_usd: number | null
  readonly user: string | null
  readonly client_request_id: string | null
  readonly attempts: number | null
  readonly tags: Readonly<Record<string, string>>
}
