import { queryOptions } from '@tanstack/react-query'
import { call, client, type Schemas } from './client.ts'
import { organizationPages } from './organization-pages.ts'

export type StoredFile = Schemas['File']
export type FilePurpose = 'batch' | 'user_data' | 'vision' | 'assistants' | 'fine-tune' | 'evals'

/** Files for one purpose, or for any. */
export const fileListQuery = (purpose?: StoredFile['purpose']) =>
  organizationPages<StoredFile>(['files', 'list', purpose], (page, signal) => {
    const query = { ...page, ...(purpose !== undefined && { purpose }) }
    return call(() => client.GET('/v1/files', { params: { query }, signal }))
  })

export const fileQuery = (id: string) =>
  queryOptions({
    queryKey: ['files', 'one', id],
    queryFn: ({ signal }) => call(() => client.GET('/v1/files/{id}', { params: { path: { id } }, signal })),
  })

export const deleteFile = (id: string) =>
  call(() => client.DELETE('/v1/files/{id}', { params: { path: { id } } }))

export const beginUpload = (file: File, purpose: FilePurpose, expiresSeconds: number | null) =>
  call(() =>
    client.POST('/v1/uploads', {
      body: {
        purpose,
        filename: file.name,
        bytes: file.size,
        mime_type: file.type === '' ? 'application/octet-stream' : file.type,
        ...(expiresSeconds !== null && {
          expires_after: { anchor: 'created_at' as const, seconds: expiresSeconds },
        }),
      },
    }),
  )

export async function sendPart(uploadId: string, part: Blob, signal: AbortSignal): Promise<string> {
  const body = new FormData()
  body.set('data', part)
  const { id } = await call(() =>
    client.POST('/v1/uploads/{id}/parts', {
      params: { path: { id: uploadId } },
      body: body as never,
      signal,
    }),
  )
  return id
}

export const completeUpload = (uploadId: string, partIds: string[]) =>
  call(() =>
    client.POST('/v1/uploads/{id}/complete', {
      params: { path: { id: uploadId } },
      body: { part_ids: partIds },
    }),
  )
