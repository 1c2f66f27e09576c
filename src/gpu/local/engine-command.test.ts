import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { writeCommand, writeEnvironment } from './engine-command.ts'

const COMMAND = ['engine', '{model}', '{model_path}', '--port={port}', ['--len', '{max_model_len}'], '{gpus}']

const write = (given: object) =>
  writeCommand({
    order: {
      instanceId: 'id',
      tierId: 'cpu_local',
      huggingfaceId: 'acme/tiny',
      revision: null,
      quantization: 'auto',
      maxModelLen: null,
      hubToken: null,
      environment: {},
      ...given,
    },
    command: COMMAND,
    model: { directory: `/srv/models/acme/tiny`, ggufPath: null },
    port: 21_000,
    gpus: [],
  })

describe('the command of an engine', () => {
  test('replaces placeholders, and leaves out parts without a value', () => {
    expect(write({})).toEqual(['engine', 'acme/tiny', '/srv/models/acme/tiny', '--port=21000'])
    expect(write({ maxModelLen: 4096 })?.slice(-2)).toEqual(['--len', '4096'])
  })

  test('contains any model id as one argument that is no option and no parent path, or is not written', () => {
    const hostile = fc.string({
      unit: fc.constantFrom('a', '.', '/', '-', ' ', '\0', '$', '{port}', '\n', "'", '..', '%'),
      maxLength: 12,
    })
    fc.assert(
      fc.property(hostile, hostile, (huggingfaceId, revision) => {
        const argv = write({ huggingfaceId, revision })
        if (argv === null) return
        expect(argv).toEqual(['engine', huggingfaceId, '/srv/models/acme/tiny', '--port=21000'])
        expect(huggingfaceId).toMatch(/^a(?:[a.-]*|[a.-]*\/a[a.-]*)$/)
        expect(huggingfaceId).not.toContain('..')
      }),
    )
  })

  test.each([
    { quantization: 'a b' },
    { quantization: '--x' },
    { revision: '../x' },
    { maxModelLen: 1.5 },
    { maxModelLen: -1 },
  ])('is not written for %j', (given) => expect(write(given)).toBeNull())
})

test('the environment of an engine contains only allowed variables, and those of the operator take precedence', () => {
  const { environment, leftOut } = writeEnvironment({
    order: {
      instanceId: 'id',
      tierId: 'cpu_local',
      huggingfaceId: 'acme/tiny',
      revision: null,
      quantization: 'auto',
      maxModelLen: null,
      hubToken: null,
      environment: {
        VLLM_A: 'theirs',
        VLLM_B: 'theirs',
        VLLM_C: 'a\nb',
        PATH: '/evil',
        CUDA_VISIBLE_DEVICES: '0,1',
      },
    },
    settings: {
      environment: { VLLM_B: 'ours' },
      accountVariables: ['VLLM_A', 'VLLM_B', 'VLLM_C', 'PATH', 'CUDA_VISIBLE_DEVICES'],
    },
    inherited: { PATH: '/bin' },
    gpus: [3],
  })
  expect(environment).toEqual({
    VLLM_A: 'theirs',
    VLLM_B: 'ours',
    PATH: '/bin',
    CUDA_VISIBLE_DEVICES: '3',
    CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
  })
  expect(leftOut).toEqual(['VLLM_C'])
})
