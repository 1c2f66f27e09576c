import { noteReachable } from './api/reachability.ts'

const STORAGE_KEY = 'parkway-reloaded-at'
const PAUSE_MS = 30_000

/** Reloads the page when a part of it is gone, because a new version was rolled out. Not again and again. */
export function reloadWhenChunkIsGone(): void {
  addEventListener('vite:preloadError', ({ payload }) => {
    // By its usual message the router would know the failure and reload at once, also without a gateway.
    payload.message = 'A part of the console could not be loaded.'
    void reloadIfServed()
  })
}

/** Without a gateway a reload would leave nothing of the page, not even what was typed. */
async function reloadIfServed(): Promise<void> {
  const lastMs = Number(sessionStorage.getItem(STORAGE_KEY) ?? 0)
  if (Date.now() - lastMs < PAUSE_MS) return
  const isServed = await fetch('/', { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )
  noteReachable(isServed)
  if (!isServed) return
  sessionStorage.setItem(STORAGE_KEY, String(Date.now()))
  location.reload()
}
