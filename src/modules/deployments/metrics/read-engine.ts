/** An engine's current metrics; null for those it does not report. */
export interface EngineReadings {
  /** Requests that the engine is processing. */
  readonly running: number | null
  /** Requests in the engine's own queue. */
  readonly waiting: number | null
  /** The used part of the KV cache, from 0 to 1. */
  readonly cacheUsage: number | null
}

/** Names of gauges by engine: vLLM (before and since 0.10), SGLang, llama.cpp, TGI. */
const NAMES: Readonly<Record<keyof EngineReadings, readonly string[]>> = {
  running: [
    'vllm:num_requests_running',
    'sglang:num_running_reqs',
    'llamacpp:requests_processing',
    'tgi_batch_current_size',
  ],
  waiting: [
    'vllm:num_requests_waiting',
    'sglang:num_queue_reqs',
    'llamacpp:requests_deferred',
    'tgi_queue_size',
  ],
  cacheUsage: [
    'vllm:kv_cache_usage_perc',
    'vllm:gpu_cache_usage_perc',
    'sglang:token_usage',
    'llamacpp:kv_cache_usage_ratio',
  ],
}

/** Merges the samples of an engine's ranks: request counts are added, and the fullest cache is reported. */
const MERGED: Readonly<Record<keyof EngineReadings, (values: readonly number[]) => number>> = {
  running: (values) => values.reduce((sum, value) => sum + value, 0),
  waiting: (values) => values.reduce((sum, value) => sum + value, 0),
  cacheUsage: (values) => Math.min(1, Math.max(...values)),
}

/** A sample in the Prometheus text format: a name, labels (ignored), a value, and an optional timestamp. */
const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{[^\n]*\})? +([^\s]+)(?: +-?\d+)?$/
const VALUE_MAX = 1e9

/** Parses an engine's metrics. Returns null if the text has none of the known gauges. */
export function readEngine(text: string): EngineReadings | null {
  const values = new Map<string, number[]>()
  for (const line of text.split('\n')) {
    const [, name = '', shown = ''] = SAMPLE.exec(line.trimEnd()) ?? []
    const value = Number(shown)
    if (!WANTED.has(name) || !(value >= 0 && value <= VALUE_MAX)) continue
    const known = values.get(name)
    if (known === undefined) values.set(name, [value])
    else known.push(value)
  }
  if (values.size === 0) return null
  const read = (key: keyof EngineReadings): number | null => {
    const name = NAMES[key].find((one) => values.has(one))
    return name === undefined ? null : MERGED[key](values.get(name) ?? [])
  }
  return { running: read('running'), waiting: read('waiting'), cacheUsage: read('cacheUsage') }
}

const WANTED: ReadonlySet<string> = new Set(Object.values(NAMES).flat())
