import { expect, test } from 'vitest'
import { readEngine } from './read-engine.ts'

test('combines the figures of all vLLM ranks', () => {
  const text = `# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="Qwen/Qwen3-8B"} 3.0
vllm:num_requests_running{engine="1",model_name="Qwen/Qwen3-8B"} 2.0
vllm:num_requests_waiting{engine="0",model_name="a} 7"} 1.0
vllm:kv_cache_usage_perc{engine="0",model_name="Qwen/Qwen3-8B"} 0.25
vllm:kv_cache_usage_perc{engine="1",model_name="Qwen/Qwen3-8B"} 0.5
vllm:time_to_first_token_seconds_bucket{le="0.001"} 12
`
  expect(readEngine(text)).toEqual({ running: 5, waiting: 1, cacheUsage: 0.5 })
})

test.each([
  ['vLLM before 0.10', 'vllm:num_requests_running 1\nvllm:gpu_cache_usage_perc 0.1', [1, null, 0.1]],
  [
    'SGLang',
    'sglang:num_running_reqs{tp_rank="0"} 4\nsglang:num_queue_reqs 2\nsglang:token_usage 0.28',
    [4, 2, 0.28],
  ],
  ['llama.cpp', 'llamacpp:requests_processing 1\nllamacpp:requests_deferred 0', [1, 0, null]],
  ['times behind the values', 'vllm:num_requests_running 2 1700000000000\r', [2, null, null]],
])('reads %s', (_, text, [running, waiting, cacheUsage]) => {
  expect(readEngine(text)).toEqual({ running, waiting, cacheUsage })
})

test('ignores text without valid figures', () => {
  for (const text of [
    '',
    '<html>',
    'vllm:num_requests_running NaN',
    'vllm:num_requests_running -1',
    'vllm:num_requests_running 1e300',
  ])
    expect(readEngine(text)).toBeNull()
})
