import { queryOptions } from '@tanstack/react-query'
import { toApiError } from './api-error.ts'
import { call, client, noteFailure, type BodyOf, type Schemas } from './client.ts'
import { organizationPages } from './organization-pages.ts'
import { fetchInProject } from './project.ts'
import { readResultLines, type ResultLine } from './result-line.ts'
import type { paths } from '../../../api-types/generated/gateway-api.ts'

export type Batch = Schemas['Batch']
type NewBatch = BodyOf<paths['/v1/batches']['post']>

const MOVING_MS = 1_000
const RESTING_MS = 10_000
const ENDED: ReadonlySet<string> = new Set(['failed', 'completed', 'expired', 'cancelled'])

export const hasEnded = ({ status }: Pick<Batch, 'status'>): boolean => ENDED.has(status)

export const batchListQuery = {
  ...organizationPages<Batch>(['batches', 'list'], (query, signal) =>
    call(() => client.GET('/v1/batches', { params: { query }, signal })),
  ),
  refetchInterval: RESTING_MS,
}

/** The newest batches that read a file, or wrote it. */
export const batchesOfFileQuery = (fileId: string) =>
  queryOptions({
    queryKey: ['batches', 'of-file', fileId],
    queryFn: ({ signal }) =>
      call(() => client.GET('/v1/batches', { params: { query: { file_id: fileId, limit: 20 } }, signal })),
  })

export const batchQuery = (id: string) =>
  queryOptions({
    queryKey: ['batches', 'one', id],
    queryFn: ({ signal }) => call(() => client.GET('/v1/batches/{id}', { params: { path: { id } }, signal })),
    refetchInterval: ({ state }) => (state.data && hasEnded(state.data) ? false : MOVING_MS),
  })

interface ResultPart {
  readonly lines: readonly ResultLine[]
  /** Whether the file has more than what was read. */
  readonly isCut: boolean
}

/** A file of results may have hundreds of megabytes. */
const PART_BYTES = 512 * 1024

/** The first lines of a file of results, which never change. */
export const batchResultsQuery = (fileId: string) =>
  queryOptions({
    queryKey: ['batches', 'results', fileId],
    queryFn: async ({ signal }): Promise<ResultPart> => {
      const headers = { range: `bytes=0-${PART_BYTES - 1}` }
      const response = await fetchInProject(
        new Request(contentPath(fileId), { credentials: 'same-origin', headers, signal }),
      )
      if (!response.ok) {
        const failure = toApiError(await response.json().catch(() => null), response)
        noteFailure(failure, response)
        throw failure
      }
      const text = await response.text()
      const isCut = Number(response.headers.get('content-range')?.split('/')[1] ?? 0) > PART_BYTES
      return { lines: readResultLines(text, isCut), isCut }
    },
    staleTime: Infinity,
  })

/** Where a file of results is downloaded. */
export const contentPath = (fileId: string): string => `/v1/files/${encodeURIComponent(fileId)}/content`

export const cancelBatch = (id: string) =>
  call(() => client.POST('/v1/batches/{id}/cancel', { params: { path: { id } } }))

export const retryBatch = (id: string) =>
  call(() => client.POST('/v1/batches/{id}/retry', { params: { path: { id } } }))

/** Uploads the file and makes a batch of it. */
export async function createBatch(file: File, order: Omit<NewBatch, 'input_file_id'>): Promise<Batch> {
  const body = new FormData()
  body.set('purpose', 'batch')
  body.set('file', file)
  const { id } = await call(() => client.POST('/v1/files', { body: body as never }))
  return call(() => client.POST('/v1/batches', { body: { ...order, input_file_id: id } }))
}
