import { queryOptions } from '@tanstack/react-query'
import type { paths } from '../../../api-types/generated/gateway-api.ts'
import { call, client, type BodyOf } from './client.ts'

type ApplyBody = BodyOf<paths['/v1/admin/config/apply']['post']>
export type ConfigDocument = ApplyBody['document']
export type ConfigChange = Awaited<ReturnType<typeof planConfiguration>>['changes'][number]

/** Everything that was added over the API, as YAML. */
export const exportedConfigQuery = queryOptions({
  queryKey: ['configuration'],
  queryFn: ({ signal }) => call(() => client.GET('/v1/admin/config/export', { parseAs: 'text', signal })),
})

/** Says what a document would change. Nothing is changed. */
export const planConfiguration = (document: ConfigDocument) =>
  call(() => client.POST('/v1/admin/config/apply', { body: { document, dry_run: true } }))

/** Makes the changes that were looked at, or none. */
export const applyConfiguration = (document: ConfigDocument, version: string, reason: string) =>
  call(() =>
    client.POST('/v1/admin/config/apply', {
      body: { document, version, ...(reason === '' ? {} : { reason }) },
    }),
  )
