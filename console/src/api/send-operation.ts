import { describeFailure, toApiError } from './api-error.ts'
import { noteFailure } from './client.ts'
import { fetchInProject } from './project.ts'

export interface Operation {
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  /** Sent as a form, if there are any. */
  readonly files: Readonly<Record<string, Blob>>
}

export interface OperationAnswer {
  /** Parsed JSON, or null if the answer is a file. */
  readonly json: unknown
  readonly blob: Blob | null
  readonly costUsd: number | null
  readonly elapsedMs: number
}

/** Sends a request to a model whose answer may be JSON or a file. */
export async function sendOperation(operation: Operation, signal: AbortSignal): Promise<OperationAnswer> {
  const startedAtMs = performance.now()
  let response: Response
  try {
    response = await fetchInProject(
      new Request(operation.path, {
        method: 'POST',
        credentials: 'same-origin',
        signal,
        ...encode(operation),
      }),
    )
  } catch (error) {
    throw describeFailure(error)
  }
  if (!response.ok) {
    const failure = toApiError(await response.json().catch(() => null), response)
    noteFailure(failure, response)
    throw failure
  }
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  const cost = response.headers.get('x-gateway-cost-usd')
  return {
    json: isJson ? await response.json() : null,
    blob: isJson ? null : await response.blob(),
    costUsd: cost === null ? null : Number(cost),
    elapsedMs: performance.now() - startedAtMs,
  }
}

function encode({ body, files }: Operation): Pick<RequestInit, 'body' | 'headers'> {
  if (Object.keys(files).length === 0)
    return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const form = new FormData()
  for (const [name, value] of Object.entries(body))
    form.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  for (const [name, file] of Object.entries(files)) form.set(name, file, fileName(file, name))
  return { body: form }
}

function fileName(file: Blob, field: string): string {
  return file instanceof File ? file.name : `${field}.${file.type.split(/[/;]/)[1] ?? 'bin'}`
}
