import type { Registry } from 'prom-client'
import { createCounterFamily, createGaugeFamily, createHistogramFamily } from './metric-family.ts'

// Answers take from a millisecond in the gateway to many minutes for a reasoning model.
export const DURATION_SECONDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
]
const FIRST_TOKEN_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60]

// The bounds that the GenAI conventions ask for.
const OPERATION_SECONDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
]
const TOKENS = [
  1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
]

export type Families = ReturnType<typeof createFamilies>

/** The metrics of requests and of the upstreams that they called. */
export function createFamilies(registry: Registry) {
  const counter = (name: string, help: string, labelNames: string[]) =>
    createCounterFamily(registry, { name, help, labelNames })
  return {
    requests: counter('parkway_requests_total', 'Requests answered.', [
      'route',
      'model',
      'provider',
      'status',
    ]),
    duration: createHistogramFamily(registry, {
      name: 'parkway_request_duration_seconds',
      help: 'From the arrival of a request to the last byte of its answer.',
      labelNames: ['route', 'model', 'provider'],
      bounds: DURATION_SECONDS,
    }),
    firstToken: createHistogramFamily(registry, {
      name: 'parkway_time_to_first_token_seconds',
      help: 'From the arrival of a request to the first token of its stream.',
      labelNames: ['model', 'provider'],
      bounds: FIRST_TOKEN_SECONDS,
    }),
    tokens: counter(
      'parkway_tokens_total',
      'Tokens; cached and reasoning are parts of prompt and completion.',
      ['model', 'provider', 'direction'],
    ),
    spend: counter('parkway_spend_usd_total', 'What accounts were charged for requests, in dollars.', [
      'model',
      'provider',
    ]),
    operationDuration: createHistogramFamily(registry, {
      name: 'gen_ai_client_operation_duration_seconds',
      help: 'Duration of an operation on a model, by the GenAI conventions.',
      labelNames: ['gen_ai_operation_name', 'gen_ai_provider_name', 'gen_ai_request_model', 'error_type'],
      bounds: OPERATION_SECONDS,
    }),
    tokenUsage: createHistogramFamily(registry, {
      name: 'gen_ai_client_token_usage',
      help: 'Tokens of an operation on a model, by the GenAI conventions.',
      labelNames: [
        'gen_ai_operation_name',
        'gen_ai_provider_name',
        'gen_ai_request_model',
        'gen_ai_token_type',
      ],
      bounds: TOKENS,
    }),
    inFlight: createGaugeFamily(registry, {
      name: 'parkway_requests_in_flight',
      help: 'Requests that have arrived and are not answered yet.',
      labelNames: ['route'],
    }),
    attempts: counter('parkway_upstream_attempts_total', 'Calls of an upstream.', ['provider', 'outcome']),
    upstreamErrors: counter('parkway_upstream_errors_total', 'Calls of an upstream that failed.', [
      'provider',
      'failure',
      'status',
    ]),
    retries: counter('parkway_upstream_retries_total', 'Further attempts at the same upstream.', [
      'provider',
    ]),
    fallbacks: counter('parkway_upstream_fallbacks_total', 'Attempts at another upstream after a failure.', [
      'from',
      'to',
    ]),
    disconnects: counter(
      'parkway_client_disconnects_total',
      'Clients that left before their answer was complete.',
      ['route', 'model'],
    ),
    breakers: createGaugeFamily(registry, {
      name: 'parkway_circuit_breaker_state',
      help: 'Per model of an upstream: 0 closed, 1 half-open, 2 open.',
      labelNames: ['provider', 'model'],
      aggregator: 'max',
    }),
    breakerAccounts: createGaugeFamily(registry, {
      name: 'parkway_circuit_breaker_accounts',
      help: 'Accounts that are kept away from a model of an upstream because only their requests fail there.',
      labelNames: ['provider', 'model'],
      aggregator: 'max',
    }),
  }
}
