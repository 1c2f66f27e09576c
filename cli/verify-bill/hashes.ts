import { createHash } from 'node:crypto'

const HASH_DIGITS = 32

export function sha256(...parts: readonly (Uint8Array | string)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}

/** What a receipt keeps of a record's line. */
export function hashOfRecord(line: string): string {
  return sha256(line).slice(0, HASH_DIGITS)
}

/** The root of the tree over the leaves, in their order, as RFC 6962 defines it. */
export function rootOf(leaves: ReadonlyMap<string, string>): string {
  let level = [...leaves].map(([requestId, hash]) =>
    sha256(Buffer.of(0), Buffer.from(requestId.slice('req_'.length) + hash, 'hex')),
  )
  if (level.length === 0) return sha256()
  while (level.length > 1) {
    const above: string[] = []
    for (let at = 0; at < level.length; at += 2) {
      const [left = '', right] = level.slice(at, at + 2)
      above.push(
        right === undefined
          ? left
          : sha256(Buffer.of(1), Buffer.from(left, 'hex'), Buffer.from(right, 'hex')),
      )
    }
    level = above
  }
  return level[0] ?? ''
}
