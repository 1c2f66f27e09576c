import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { statementQuery } from '../../api/statements.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

const STATEMENT_GROUPS = ['model', 'project', 'key', 'day', 'movements'] as const
export type StatementGroup = (typeof STATEMENT_GROUPS)[number]

export interface StatementSearch {
  /** What is listed below the balance. */
  readonly by?: StatementGroup | undefined
  readonly project_id?: string | undefined
}

export const statementRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/billing/statements/$month',
  validateSearch: (search: Record<string, unknown>): StatementSearch => {
    const by = STATEMENT_GROUPS.find((group) => group === search['by'])
    const project = search['project_id']
    return { ...(by && { by }), ...(typeof project === 'string' && { project_id: project }) }
  },
  loaderDeps: ({ search: { project_id: projectId } }) => ({ projectId }),
  loader: ({ context: { queryClient }, params: { month }, deps: { projectId } }) =>
    void queryClient.prefetchQuery(statementQuery(month, projectId)),
  component: lazyRouteComponent(() => import('./statement-page.tsx'), 'StatementPage'),
})
