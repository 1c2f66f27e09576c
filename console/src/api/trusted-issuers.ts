import { queryOptions } from '@tanstack/react-query'
import type { paths } from '../../../api-types/generated/gateway-api.ts'
import { call, client, type BodyOf, type Schemas } from './client.ts'

export type TrustedIssuer = Schemas['TrustedIssuer']
export type IssuerDraft = BodyOf<paths['/v1/organization/projects/{project_id}/trusted_issuers']['post']>
export type Jwks = NonNullable<IssuerDraft['jwks']>

const at = (projectId: string) => ({ path: { project_id: projectId } })

export const trustedIssuersQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['projects', projectId, 'trusted-issuers'],
    queryFn: ({ signal }) =>
      call(() =>
        client.GET('/v1/organization/projects/{project_id}/trusted_issuers', {
          params: at(projectId),
          signal,
        }),
      ),
  })

export const trustIssuer = (projectId: string, body: IssuerDraft) =>
  call(() =>
    client.POST('/v1/organization/projects/{project_id}/trusted_issuers', { params: at(projectId), body }),
  )

export const changeIssuer = (projectId: string, issuerId: string, body: IssuerDraft) =>
  call(() =>
    client.POST('/v1/organization/projects/{project_id}/trusted_issuers/{issuer_id}', {
      params: { path: { project_id: projectId, issuer_id: issuerId } },
      body,
    }),
  )

export const deleteIssuer = (projectId: string, issuerId: string) =>
  call(() =>
    client.DELETE('/v1/organization/projects/{project_id}/trusted_issuers/{issuer_id}', {
      params: { path: { project_id: projectId, issuer_id: issuerId } },
    }),
  )

/** A token of an issuer that became one of a service account. */
export interface Exchange {
  readonly id: string
  readonly atSeconds: number
  readonly issuerId: string
  readonly serviceAccountId: string
  readonly subject: string | null
}

/** The last exchanges of a project, newest first, as the audit log has them. */
export const exchangesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['projects', projectId, 'exchanges'],
    queryFn: async ({ signal }): Promise<Exchange[]> => {
      const query = { event_types: ['token.exchanged' as const], project_ids: [projectId], limit: 100 }
      const { data } = await call(() =>
        client.GET('/v1/organization/audit_logs', { params: { query }, signal }),
      )
      return data.map((entry) => ({
        id: entry.id,
        atSeconds: entry.effective_at,
        ...readExchange(Reflect.get(entry, entry.type)),
      }))
    },
  })

function readExchange(details: unknown): Omit<Exchange, 'id' | 'atSeconds'> {
  const data = memberOf(details, 'data')
  return {
    serviceAccountId: textOf(memberOf(details, 'id')) ?? '',
    issuerId: textOf(memberOf(data, 'issuer_id')) ?? '',
    subject: textOf(memberOf(data, 'subject')),
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
