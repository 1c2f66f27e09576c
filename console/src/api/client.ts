import createClient from 'openapi-fetch'
import type { components, paths } from '../../../api-types/generated/gateway-api.ts'
import { type ApiError, describeFailure, toApiError } from './api-error.ts'
import { fetchInProject } from './project.ts'
import { noteReachable } from './reachability.ts'
import { announceSignedOut, confirmKey } from './session-signals.ts'

/** The schemas of the API by name. */
export type Schemas = components['schemas']

/** The JSON body of an operation. */
export type BodyOf<Operation> = Operation extends {
  requestBody?: { content: { 'application/json': infer Body } }
}
  ? Body
  : never

/** The typed client of the whole API. Use it inside `call`. */
export const client = createClient<paths>({
  baseUrl: location.origin,
  credentials: 'same-origin',
  fetch: fetchInProject,
})

interface Outcome<Data> {
  readonly data?: Data
  readonly error?: unknown
  readonly response: Response
}

/** Sends a request and returns its data, or throws an `ApiError`. Asks who it is again where the API requires it. */
export async function call<Data>(send: () => Promise<Outcome<Data>>): Promise<Data> {
  const first = await attempt(send)
  if ('data' in first) return first.data
  if (first.failure.code !== 'confirmation_required' || !(await confirmKey())) throw first.failure
  const second = await attempt(send)
  if ('data' in second) return second.data
  throw second.failure
}

async function attempt<Data>(
  send: () => Promise<Outcome<Data>>,
): Promise<{ data: Data } | { failure: ApiError }> {
  let outcome: Outcome<Data>
  try {
    outcome = await send()
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    const failure = describeFailure(error)
    if (failure.code === 'unreachable') noteReachable(false)
    return { failure }
  }
  noteReachable(true)
  const { data, error, response } = outcome
  if (response.ok) return { data: data as Data }
  const failure = toApiError(error, response)
  noteFailure(failure, response)
  return { failure }
}

/** Routes that answer 401 about a key or a code that was entered, and not about the session. */
const ENTERING = /^\/v1\/(sessions|invites)(\/|$)/

/** Leads to the sign-in page if the session is over. */
export function noteFailure({ status, code }: ApiError, { url }: Response): void {
  if (status === 401 && code !== 'mismatched_project' && !ENTERING.test(new URL(url).pathname))
    announceSignedOut()
}
