import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { runQuery } from '../../api/compare.ts'
import { PROMPT_FILTERS, type PromptFilter } from './filter-prompts.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

export interface CompareRunSearch {
  /** Another run of the same dataset. */
  readonly against?: string | undefined
  /** The answers as a grid, not side by side. */
  readonly view?: 'grid' | undefined
  /** Which prompts are shown. */
  readonly show?: PromptFilter | undefined
  /** The answer that is open: prompt, repeat and lane. */
  readonly cell?: string | undefined
}

export const compareRunRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/compare/$id',
  validateSearch: ({ against, cell, view, show }: Record<string, unknown>): CompareRunSearch => ({
    against: typeof against === 'string' && against !== '' ? against : undefined,
    view: view === 'grid' ? view : undefined,
    show: PROMPT_FILTERS.find(({ value }) => value === show)?.value,
    cell: typeof cell === 'string' && cell !== '' ? cell : undefined,
  }),
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(runQuery(params.id))
  },
  component: lazyRouteComponent(() => import('./compare-run-page.tsx'), 'CompareRunPage'),
})
