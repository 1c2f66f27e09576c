import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { rootOf } from '../../../cli/verify-bill/hashes.ts'
import { LEAF_BYTES, writeLeaves } from './leaf.ts'
import { MerkleTree } from './merkle-tree.ts'

test('a tree of any size has the root that the program for bills computes from its leaves', () => {
  for (const size of [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 100]) {
    const leaves = randomBytes(size * LEAF_BYTES)
    const tree = new MerkleTree()
    for (let at = 0; at < leaves.length; at += LEAF_BYTES) tree.add(leaves.subarray(at, at + LEAF_BYTES))
    const written = writeLeaves(leaves)
      .split('\n')
      .slice(0, size)
      .map((line) => line.split(' ') as [string, string])
    expect([tree.leaves, tree.root()]).toEqual([size, rootOf(new Map(written))])
  }
})
