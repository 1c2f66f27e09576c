import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../../shell/shell-route.tsx'

interface ModelSettingsSearch {
  readonly tab?: 'import' | undefined
  readonly text?: string | undefined
  /** Only models that were added here. */
  readonly own?: true | undefined
  /** The id of the model that is open. */
  readonly model?: string | undefined
}

export const modelSettingsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/model-settings',
  validateSearch: ({ tab, text, own, model }: Record<string, unknown>): ModelSettingsSearch => ({
    ...(tab === 'import' && { tab }),
    ...(typeof text === 'string' && text !== '' && { text }),
    ...(own === true && { own }),
    ...(typeof model === 'string' && model !== '' && { model }),
  }),
  loader: ({ context }) => {
    // Imported here, because what only operators need is not in the first script.
    void import('../../api/model-settings.ts').then(({ modelSettingsQuery }) =>
      context.queryClient.prefetchQuery(modelSettingsQuery),
    )
  },
  component: lazyRouteComponent(() => import('./model-settings-page.tsx'), 'ModelSettingsPage'),
})
