import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../../shell/shell-route.tsx'

interface DeviceSearch {
  /** The code of a link. It fills the field, and nothing more. */
  readonly user_code?: string | undefined
}

const CODE_LENGTH_MAX = 40

export const deviceRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/device',
  validateSearch: ({ user_code: code }: Record<string, unknown>): DeviceSearch => ({
    user_code: typeof code === 'string' && code !== '' ? code.slice(0, CODE_LENGTH_MAX) : undefined,
  }),
  component: lazyRouteComponent(() => import('./device-page.tsx'), 'DevicePage'),
})
