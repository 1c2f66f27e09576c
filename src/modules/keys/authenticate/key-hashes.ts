import { isKeyForm, nameOfSecret } from '../key-form.ts'

/**
 * Caches the last key of each connection with its hash: clients repeat the same key, and hashing takes longer than the rest of
 * the lookup.
 */
export class KeyHashes {
  readonly #lastOf = new WeakMap<object, { readonly token: string; readonly hash: string }>()

  /** Returns null if the token is not a well-formed key. */
  find(token: string, connection: object | undefined): string | null {
    const last = connection && this.#lastOf.get(connection)
    if (last?.token === token) return last.hash
    if (!isKeyForm(token)) return null
    const hash = nameOfSecret(token)
    if (connection) this.#lastOf.set(connection, { token, hash })
    return hash
  }
}
