import { hashKey, isKeyForm } from './key-form.ts'

/** Remembers of each connection the key that came last: a client sends the same one again, and hashing takes longer than all else of finding it. */
export class KeyHashes {
  readonly #lastOf = new WeakMap<object, { readonly token: string; readonly hash: string }>()

  /** Null for what does not have the form of a key. */
  find(token: string, connection: object | undefined): string | null {
    const last = connection && this.#lastOf.get(connection)
    if (last?.token === token) return last.hash
    if (!isKeyForm(token)) return null
    const hash = hashKey(token)
    if (connection) this.#lastOf.set(connection, { token, hash })
    return hash
  }
}
