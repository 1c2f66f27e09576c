import type { Clock } from '../../kernel/clock.ts'
import type { NetworkPath } from '../connection/network-path.ts'
import type { SignInDocument } from './sign-in-document.ts'

/** Authenticates requests with a credential of the operator: a key, or a document that says how to get a token. */
export interface SignIn {
  /** Returns the headers of a request, as alternating names and values. Throws only `UpstreamError`. */
  sign(credential: string, request: SignableRequest): Promise<readonly string[]> | readonly string[]
  /**
   * The upstream refused a request with these headers of the credential. Returns whether another token may help: the one of the request
   * was old and is dropped, or another request had it replaced.
   */
  forget(credential: string, signed: readonly string[]): boolean
}

export interface SignableRequest {
  readonly method: 'GET' | 'POST'
  readonly origin: string
  /** With the query. */
  readonly path: string
  readonly body: string
}

export interface SignInOptions {
  /** The provider, for errors. */
  readonly provider: string
  readonly clock: Clock
  /** How servers of tokens are reached. Those of the machine itself are asked directly. */
  readonly path?: NetworkPath | undefined
}

/** How the customers of a vendor sign in. */
export interface SignInKind {
  /** Returns what is wrong with a document, or null. */
  findProblem(document: SignInDocument): string | null
  /**
   * Whether a document makes the gateway read files of its machine, or ask addresses that the document names. Such a document must
   * come from whoever runs the machine.
   */
  needsMachine(document: SignInDocument): boolean
  create(options: SignInOptions): SignIn
}
