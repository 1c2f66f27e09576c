import createClient, { type Client } from 'openapi-fetch'
import type { components, paths } from '../../api-types/generated/gateway-api.ts'
import type { Connection } from '../profile/find-connection.ts'
import { CommandFailure } from '../command-failure.ts'
import { failureOf, gatewayAway, notAGateway } from './api-failure.ts'
import { createBoundedFetch } from './bounded-fetch.ts'
import { countUpload } from './count-upload.ts'
import { createLimitWaiter, type Patience } from './wait-for-limit.ts'

/** The schemas of the API by name. */
export type Schemas = components['schemas']

/** The API of one gateway with one key. */
export interface GatewayClient {
  readonly connection: Connection
  /** The typed routes. Use them inside `call`. */
  readonly routes: Client<paths>
  /** Returns the data of a response, or throws an `ApiFailure`. */
  call<Data>(send: (routes: Client<paths>) => Promise<Outcome<Data>>): Promise<Data>
  /** Sends a request that is not JSON in both directions, such as a stream. Throws an `ApiFailure` unless it succeeds. */
  send(path: string, message: Message): Promise<Response>
}

export interface Message {
  readonly method: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | FormData
  readonly signal?: AbortSignal
  /** Called for each try, because a request is sent again after a rate limit. */
  readonly watchUpload?: () => UploadWatch
}

/** Follows how much of a body is sent. */
interface UploadWatch {
  /** Called with the number of bytes since the last call. */
  add(bytes: number): void
  /** Called when the gateway has answered, or the request has failed. */
  clear(): void
}

interface Outcome<Data> {
  readonly data?: Data
  readonly error?: unknown
  readonly response: Response
}

interface ClientOptions {
  /** Without patience, a rate limit fails at once. */
  readonly patience?: Patience | null
  /** Called with the headers of each answer that is no failure. */
  readonly onAnswer?: (headers: Headers) => void
  /** How long a read waits for the gateway to send something. */
  readonly silenceMsMax?: number
}

/** The gateway itself waits less for the services behind it. */
const READ_SILENCE_MS_MAX = 30_000

export function createGatewayClient(
  connection: Connection,
  { patience = null, onAnswer, silenceMsMax = READ_SILENCE_MS_MAX }: ClientOptions = {},
): GatewayClient {
  const { baseUrl, apiKey, projectId = null } = connection
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'user-agent': 'parkway-cli',
    ...(projectId !== null && { 'openai-project': projectId }),
  }
  const boundedFetch = createBoundedFetch(silenceMsMax)
  const routes = createClient<paths>({ baseUrl, headers, redirect: 'manual', fetch: boundedFetch })
  const waitForLimit = createLimitWaiter(patience)
  return {
    connection,
    routes,
    call: (send) =>
      waitForLimit(async () => {
        const { data, error, response } = await reach(baseUrl, () => send(routes))
        if (!response.ok) throw failureOf(baseUrl, error, response)
        onAnswer?.(response.headers)
        if (typeof data !== 'object' || data === null) throw notAGateway(baseUrl, 'its answer is empty')
        return data
      }),
    send: (path, message) =>
      waitForLimit(async () => {
        const upload = message.watchUpload?.() ?? null
        const response = await reach(baseUrl, () =>
          fetch(new URL(path, baseUrl), encodeMessage(message, headers, upload)),
        ).finally(() => upload?.clear())
        if (!response.ok) throw failureOf(baseUrl, await response.json().catch(() => null), response)
        if (response.headers.get('content-type')?.startsWith('text/html') === true) {
          await response.body?.cancel()
          throw notAGateway(baseUrl, 'it sent a page for browsers')
        }
        onAnswer?.(response.headers)
        return response
      }),
  }
}

/** Called for each try, because a stream can be sent only once. */
function encodeMessage(
  { method, headers: special, body, signal }: Message,
  own: Record<string, string>,
  watch: UploadWatch | null,
): RequestInit {
  const headers = { ...own, ...special }
  const init = { method, headers, redirect: 'manual' as const, ...(signal === undefined ? {} : { signal }) }
  if (body === undefined) return init
  if (watch === null) return { ...init, body }
  const upload = countUpload(body, (bytes) => watch.add(bytes))
  return {
    ...init,
    headers: { ...headers, ...(typeof body === 'string' ? {} : { 'content-type': upload.contentType }) },
    body: upload.body,
    duplex: 'half',
  }
}

async function reach<Result>(baseUrl: string, send: () => Promise<Result>): Promise<Result> {
  try {
    return await send()
  } catch (error) {
    if (error instanceof CommandFailure || (error instanceof Error && error.name === 'AbortError'))
      throw error
    throw error instanceof SyntaxError
      ? notAGateway(baseUrl, 'its answer is not JSON')
      : gatewayAway(baseUrl, error)
  }
}
