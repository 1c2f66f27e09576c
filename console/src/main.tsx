import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { handleProjectChange } from './api/project.ts'
import { createQueryClient } from './api/query-client.ts'
import { handleSignedOut } from './api/session-signals.ts'
import { reloadWhenChunkIsGone } from './reload-when-chunk-is-gone.ts'
import { createConsoleRouter } from './router.ts'
import { followOtherTabs } from './shell/follow-other-tabs.ts'
import './styles.css'
import { correctLanguage } from './ui/format/correct-language.ts'
import { applyTheme } from './ui/theme.ts'

correctLanguage(navigator)
applyTheme()
reloadWhenChunkIsGone()

const queryClient = createQueryClient()
const router = createConsoleRouter(queryClient)

handleSignedOut(() => {
  const { pathname, href } = router.state.location
  if (pathname === '/sign-in') return
  void router.navigate({ to: '/sign-in', search: href === '/' ? {} : { next: href }, replace: true })
})
handleProjectChange(() => {
  const { pathname, search, hash } = router.state.location
  router.history.replace(pathname + router.options.stringifySearch(search) + (hash === '' ? '' : `#${hash}`))
})
followOtherTabs(queryClient)

const place = document.querySelector('#console')
if (place === null) throw new Error('the page has no place for the console')
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
