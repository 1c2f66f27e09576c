import { queryOptions } from '@tanstack/react-query'
import { call, client, type Schemas } from './client.ts'
import { cursorPages } from './cursor-pages.ts'

export type StatementSummary = Schemas['StatementSummary']
export type Statement = Schemas['Statement']
export type ChargeLine = Statement['charges']['by_model'][number]

/** The months of the account, or of the project of the session, newest first. */
export const statementsQuery = () =>
  cursorPages({
    queryKey: ['statements'],
    fetchPage: (after, signal) =>
      call(() => client.GET('/v1/statements', { params: { query: { after, limit: 60 } }, signal })),
  })

/** One month, or only what a project was charged in it. */
export const statementQuery = (month: string, projectId: string | undefined) =>
  queryOptions({
    queryKey: ['statements', month, projectId ?? null],
    queryFn: async ({ signal }) => {
      const statement = await call(() =>
        client.GET('/v1/statements/{month}', {
          params: { path: { month }, query: { project_id: projectId } },
          signal,
        }),
      )
      if (typeof statement === 'string') throw new TypeError('the statement is no JSON')
      return statement
    },
  })

/** Where a month is downloaded as a file. */
export function statementFileUrl(
  { month, project }: { readonly month: string; readonly project?: { readonly id: string } | null },
  format: 'pdf' | 'csv',
): string {
  const query = new URLSearchParams({ format, ...(project && { project_id: project.id }) })
  return `/v1/statements/${encodeURIComponent(month)}?${query}`
}
