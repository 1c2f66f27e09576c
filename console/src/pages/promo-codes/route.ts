import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { promoCodesQuery } from '../../api/operator.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

interface PromoCodesSearch {
  /** The id of the code that is open. */
  readonly code?: string | undefined
}

export const promoCodesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/promo-codes',
  validateSearch: ({ code }: Record<string, unknown>): PromoCodesSearch =>
    typeof code === 'string' && code !== '' ? { code } : {},
  loader: ({ context }) => {
    void context.queryClient.prefetchInfiniteQuery(promoCodesQuery())
  },
  component: lazyRouteComponent(() => import('./promo-codes-page.tsx'), 'PromoCodesPage'),
})
