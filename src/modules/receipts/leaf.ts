import { createHash } from 'node:crypto'

const ID_BYTES = 16
const HASH_BYTES = 16
export const LEAF_BYTES = ID_BYTES + HASH_BYTES

/** What a receipt keeps of a record: its id, and the first half of the SHA-256 of its line. */
export function leafOf(id: string, line: string): Buffer {
  const hash = createHash('sha256').update(line).digest()
  return Buffer.concat([Buffer.from(id.replaceAll('-', ''), 'hex'), hash.subarray(0, HASH_BYTES)])
}

/** The digits of the ids of leaves. */
export function idsOf(leaves: Buffer): string[] {
  return [...walkLeaves(leaves)].map((leaf) => leaf.toString('hex', 0, ID_BYTES))
}

/** One line a leaf: the request's id and the hash. */
export function writeLeaves(leaves: Buffer): string {
  return [...walkLeaves(leaves)]
    .map((leaf) => `req_${leaf.toString('hex', 0, ID_BYTES)} ${leaf.toString('hex', ID_BYTES)}\n`)
    .join('')
}

function* walkLeaves(leaves: Buffer): Generator<Buffer, void> {
  for (let at = 0; at < leaves.length; at += LEAF_BYTES) yield leaves.subarray(at, at + LEAF_BYTES)
}
