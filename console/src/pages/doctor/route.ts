import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { doctorQuery } from '../../api/doctor.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

export const doctorRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/doctor',
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(doctorQuery)
  },
  component: lazyRouteComponent(() => import('./doctor-page.tsx'), 'DoctorPage'),
})
