import { createHash } from 'node:crypto'

const LEAF = Buffer.of(0)
const NODE = Buffer.of(1)

/** The root of a tree over leaves that come one by one, as RFC 6962 defines it. Memory grows with the depth only. */
export class MerkleTree {
  /** Roots of full trees, the largest first. */
  readonly #full: { readonly hash: Buffer; readonly leaves: number }[] = []
  #leaves = 0

  get leaves(): number {
    return this.#leaves
  }

  add(leaf: Uint8Array): void {
    let added = { hash: sha256(LEAF, leaf), leaves: 1 }
    for (let last = this.#full.at(-1); last?.leaves === added.leaves; last = this.#full.at(-1)) {
      this.#full.pop()
      added = { hash: sha256(NODE, last.hash, added.hash), leaves: last.leaves * 2 }
    }
    this.#full.push(added)
    this.#leaves += 1
  }

  /** In hexadecimal digits. */
  root(): string {
    const [last, ...others] = this.#full.toReversed()
    if (last === undefined) return sha256().toString('hex')
    return others.reduce((right, { hash }) => sha256(NODE, hash, right), last.hash).toString('hex')
  }
}

function sha256(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}
