import { expect, test } from 'vitest'
import { explainExit } from './explain-exit.ts'

const EXIT = { status: 1, signal: null, startProblem: null, endedFor: null, wasReady: false }

test.each([
  ['torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB', 'out_of_memory'],
  ['ggml_backend_cuda_buffer_type_alloc_buffer: failed to allocate CUDA0 buffer', 'out_of_memory'],
  ['ValueError: No available memory for the cache blocks.', 'out_of_memory'],
  [
    'Access to model meta-llama/Llama-3.1-8B is restricted and you are not in the authorized list.',
    'model_gated',
  ],
  ["llama_model_load: error loading model: unknown model architecture: 'x'", 'model_unsupported'],
  ["ValueError: Model architectures ['XForCausalLM'] are not supported for now.", 'model_unsupported'],
  [
    'the model could not be loaded: A context size of 8192 with 4 sequences is too large for the available RAM',
    'out_of_memory',
  ],
  ['the model could not be loaded: Failed to load model', 'model_unsupported'],
  ['Segmentation fault', 'engine_crashed'],
])('the last line %j means the failure %s', (line, code) => {
  const failure = explainExit(EXIT, ['before', line])
  expect([failure.code, failure.message.includes(line)]).toEqual([code, true])
})

test('an engine that the system killed during loading ran out of memory', () => {
  const killed = { ...EXIT, status: null, signal: 'SIGKILL' }
  expect(explainExit(killed, []).code).toBe('out_of_memory')
  expect(explainExit({ ...killed, wasReady: true }, []).code).toBe('engine_crashed')
})

test('an engine that the keeper ended fails with the reason of the keeper', () => {
  const ended = { ...EXIT, status: null, signal: 'SIGKILL', wasReady: true }
  const lines = ['error loading model: invalid magic']
  expect(explainExit({ ...ended, endedFor: 'memory' }, lines).code).toBe('out_of_memory')
  expect(explainExit({ ...ended, endedFor: 'hang' }, lines)).toMatchObject({
    code: 'engine_crashed',
    message: expect.stringContaining('health check'),
  })
  expect(explainExit({ ...ended, wasReady: false, endedFor: 'delay' }, lines)).toMatchObject({
    code: 'engine_crashed',
    message: expect.stringContaining('not ready in time'),
  })
})

test('a backtrace does not hide the lines before it', () => {
  const { message } = explainExit({ ...EXIT, status: null, signal: 'SIGABRT' }, [
    'error: CUDA error: the provided PTX was compiled with an unsupported toolchain.',
    ...Array.from({ length: 20 }, (_, frame) => `/opt/libggml-cuda.so(+0x2bad${frame})[0x7f1cd70bad56]`),
  ])
  expect(message).toMatch(/unsupported toolchain\.$/)
})

test('the failure message is limited in length', () => {
  const lines = Array.from({ length: 40 }, () => 'x'.repeat(2_000))
  expect(explainExit(EXIT, lines).message.length).toBeLessThan(1_900)
})
