import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { USE_DAYS, type UseDays } from '../../api/use-days.ts'
import { deprecationsQuery } from '../../api/deprecations.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

interface DeprecationsSearch {
  readonly days?: UseDays | undefined
  /** Shows models that nobody used too. */
  readonly all?: true | undefined
  /** The id of the model that is open. */
  readonly model?: string | undefined
}

const DAYS_DEFAULT: UseDays = 30

export const deprecationsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/deprecations',
  validateSearch: ({ days, all, model }: Record<string, unknown>): DeprecationsSearch => {
    const known = USE_DAYS.find((one) => one === days)
    return {
      ...(known !== undefined && known !== DAYS_DEFAULT && { days: known }),
      ...(all === true && { all }),
      ...(typeof model === 'string' && model !== '' && { model }),
    }
  },
  loaderDeps: ({ search: { days = DAYS_DEFAULT, all = false } }) => ({ days, all }),
  loader: ({ context, deps }) => {
    void context.queryClient.prefetchInfiniteQuery(deprecationsQuery(deps))
  },
  component: lazyRouteComponent(() => import('./deprecations-page.tsx'), 'DeprecationsPage'),
})
