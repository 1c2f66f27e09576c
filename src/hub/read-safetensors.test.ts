import { expect, test } from 'vitest'
import { readSafetensors } from './read-safetensors.ts'

/** The tensors of a small model whose embedding and output layer are both stored. */
const HEADER = Buffer.from(
  JSON.stringify({
    __metadata__: { format: 'pt' },
    'model.embed_tokens.weight': { dtype: 'BF16', shape: [100, 8], data_offsets: [0, 1600] },
    'model.layers.0.mlp.up_proj.weight': { dtype: 'BF16', shape: [16, 8], data_offsets: [1600, 1856] },
    'lm_head.weight': { dtype: 'BF16', shape: [100, 8], data_offsets: [1856, 3456] },
  }),
)
const LENGTH = Buffer.alloc(8)
LENGTH.writeBigUInt64LE(BigInt(HEADER.length))
const FILE = Buffer.concat([LENGTH, HEADER])
const files = { readRange: async (_name: string, start: number, end: number) => FILE.subarray(start, end) }

test.each([
  [false, 1_728],
  [true, 928],
])('the stored output layer counts unless it is the embedding (tied: %s)', async (isTied, parameters) => {
  expect(await readSafetensors(files, ['model.safetensors'], { packedBits: null, isTied })).toEqual({
    parameters,
    bytes: 2 * parameters,
    dtype: 'BF16',
  })
})
