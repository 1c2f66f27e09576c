import { setTimeout as delay } from 'node:timers/promises'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { fetch, type Response } from 'undici'
import { parseJson } from '../../kernel/json/parse-json.ts'
import type { ClusterAccess } from './cluster-access.ts'
import { readBounded, readLines } from './read-response.ts'

type Query = Readonly<Record<string, string>>

/** The part of the Kubernetes API that the driver uses. Callers have to validate the returned objects. */
export interface ClusterApi {
  /** Returns null if the object does not exist. */
  get(path: string): Promise<unknown>
  /** Reads all pages of a list. */
  list(path: string, selector: string): Promise<ObjectList>
  /** Does a server-side apply. Without `isForced`, a field that another manager set to another value is a conflict. */
  apply(path: string, object: object, options: ApplyOptions): Promise<unknown>
  /** Deletes an object and the objects that it owns, if it exists. */
  delete(path: string): Promise<void>
  /** Returns null if there is no log yet. */
  readLog(path: string, query: Query): Promise<string | null>
  /** Resolves when the watch is connected. Yields events until the server ends the watch or the signal aborts it. */
  watch(path: string, query: Query, signal: AbortSignal): Promise<AsyncIterable<unknown>>
}

interface ObjectList {
  readonly items: readonly unknown[]
  readonly resourceVersion: string
}

interface ApplyOptions {
  readonly manager: string
  readonly isForced: boolean
}

/** An error response, with the reason that Kubernetes gives. */
export class ClusterError extends Error {
  override readonly name = 'ClusterError'
  readonly status: number
  readonly reason: string

  constructor(status: number, { reason, message }: { reason: string; message: string }) {
    super(`Kubernetes answered ${status} ${reason}: ${message}`)
    this.status = status
    this.reason = reason
  }
}

const REQUEST_MS = 15_000
const BODY_BYTES_MAX = 64 * 1024 * 1024
const LOG_BYTES_MAX = 4 * 1024 * 1024
const EVENT_BYTES_MAX = 4 * 1024 * 1024
const PAGE_SIZE = 500
const PAGES_MAX = 100
const TRIES_MAX = 3
const RETRY_MS = 500
const RETRY_MS_MAX = 5_000

export function createClusterApi(access: ClusterAccess): ClusterApi {
  const send = (path: string, options: SendOptions) => sendRequest(access, path, options)
  const readJson = async (path: string, options: SendOptions) =>
    parseJson(await readBounded(await send(path, options), BODY_BYTES_MAX))

  return {
    get: (path) => readJson(path, { method: 'GET' }).catch(nullIfMissing),
    list: async (path, selector) => {
      const items: unknown[] = []
      let next: string | undefined
      for (let page = 0; page < PAGES_MAX; page += 1) {
        const query = { labelSelector: selector, limit: String(PAGE_SIZE), ...(next && { continue: next }) }
        const list = Value.Parse(List, await readJson(path, { method: 'GET', query }))
        for (const item of list.items) items.push(item)
        next = list.metadata.continue
        if (!next) return { items, resourceVersion: list.metadata.resourceVersion }
      }
      throw new Error(`the list ${path} has more than ${PAGES_MAX} pages`)
    },
    apply: (path, object, { manager, isForced }) =>
      readJson(path, {
        method: 'PATCH',
        query: { fieldManager: manager, force: String(isForced) },
        body: { type: 'application/apply-patch+yaml', text: JSON.stringify(object) },
      }),
    delete: async (path) => {
      const body = { type: 'application/json', text: JSON.stringify(DELETE_OPTIONS) }
      await readJson(path, { method: 'DELETE', body }).catch(nullIfMissing)
    },
    readLog: async (path, query) => {
      try {
        return await readBounded(await send(path, { method: 'GET', query }), LOG_BYTES_MAX)
      } catch (error) {
        // Kubernetes answers 400 if the container has not started yet.
        if (error instanceof ClusterError && (error.status === 400 || error.status === 404)) return null
        throw error
      }
    },
    watch: async (path, query, signal) => {
      const response = await send(path, { method: 'GET', query: { ...query, watch: 'true' }, signal })
      return parseLines(readLines(response, EVENT_BYTES_MAX))
    },
  }
}

async function* parseLines(lines: AsyncIterable<string>): AsyncIterable<unknown> {
  for await (const line of lines) yield parseJson(line)
}

const List = Type.Object({
  metadata: Type.Object({ resourceVersion: Type.String(), continue: Type.Optional(Type.String()) }),
  items: Type.Array(Type.Unknown()),
})
const DELETE_OPTIONS = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' }

interface SendOptions {
  readonly method: 'GET' | 'PATCH' | 'DELETE'
  readonly query?: Query
  readonly body?: { readonly type: string; readonly text: string }
  /** Replaces the time limit of the request. */
  readonly signal?: AbortSignal
}

/** Sends a request. Retries it on 429 and 503, which is safe because all requests are idempotent. */
async function sendRequest(access: ClusterAccess, path: string, options: SendOptions): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    const response = await sendOnce(access, path, options)
    if (response.ok) return response
    const error = await readError(response)
    if ((error.status !== 429 && error.status !== 503) || tries === TRIES_MAX) throw error
    const waitMs = Number(response.headers.get('retry-after') ?? 0) * 1_000
    await delay(Math.min(waitMs > 0 ? waitMs : RETRY_MS * tries, RETRY_MS_MAX), undefined, {
      signal: options.signal,
    })
  }
}

async function sendOnce(
  access: ClusterAccess,
  path: string,
  { method, query = {}, body, signal }: SendOptions,
): Promise<Response> {
  const { headers, dispatcher } = await access.authorize()
  const search = new URLSearchParams(query).toString()
  return fetch(`${access.server}${path}${search === '' ? '' : `?${search}`}`, {
    method,
    headers: { ...headers, accept: 'application/json', ...(body && { 'content-type': body.type }) },
    body: body?.text ?? null,
    // A redirect could send the credentials to another server.
    redirect: 'error',
    signal: signal ?? AbortSignal.timeout(REQUEST_MS),
    dispatcher,
  })
}

const Status = Type.Object({ reason: Type.Optional(Type.String()), message: Type.Optional(Type.String()) })
const ERROR_BYTES_MAX = 64 * 1024
const MESSAGE_LENGTH_MAX = 1_000

async function readError(response: Response): Promise<ClusterError> {
  const text = await readBounded(response, ERROR_BYTES_MAX).catch(() => '')
  const status = toStatus(text)
  return new ClusterError(response.status, {
    reason: status.reason ?? 'Unknown',
    message: (status.message ?? text).slice(0, MESSAGE_LENGTH_MAX),
  })
}

function toStatus(text: string): { reason?: string; message?: string } {
  try {
    const value = parseJson(text)
    return Value.Check(Status, value) ? value : {}
  } catch {
    return {}
  }
}

function nullIfMissing(error: unknown): null {
  if (error instanceof ClusterError && error.status === 404) return null
  throw error
}
