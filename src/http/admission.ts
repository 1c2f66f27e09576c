import type { RequestOrigin } from '../modules/audit/audit.ts'

/** Who was admitted by a credential that is no key, such as the token of a directory. */
export interface Admission {
  /** The only account that it reaches. */
  readonly accountId: string
  /** Of the credential. */
  readonly id: string
  /** The name that people gave the credential. */
  readonly name: string
  /** Where the request comes from. */
  readonly origin: RequestOrigin
}
