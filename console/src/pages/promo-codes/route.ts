import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { promoCodesQuery } from '../../api/operator.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

export const promoCodesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/promo-codes',
  loader: ({ context }) => {
    void context.queryClient.prefetchInfiniteQuery(promoCodesQuery())
  },
  component: lazyRouteComponent(() => import('./promo-codes-page.tsx'), 'PromoCodesPage'),
})
