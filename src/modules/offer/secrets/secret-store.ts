import type { SecretReading } from './secret-reading.ts'

/** A store of secrets that is reached over the network. */
export interface SecretStore {
  /** How its references begin, such as `vault:`. */
  readonly prefix: string
  /** How its references look, for people. */
  readonly form: string
  /** Returns what is wrong with the text of a reference, or null. */
  findProblem(reference: string): string | null
  /** Rejects with a `SecretStoreAway` if the store does not answer. */
  read(reference: string): Promise<SecretReading>
}

/** The store did not answer, which says nothing about the secret. The message is for operators. */
export class SecretStoreAway extends Error {
  override readonly name = 'SecretStoreAway'
}
