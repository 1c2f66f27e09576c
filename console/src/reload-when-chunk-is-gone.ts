const STORAGE_KEY = 'parkway-reloaded-at'
const PAUSE_MS = 30_000

/** Reloads the page when a part of it is gone, because a new version was rolled out. Not again and again. */
export function reloadWhenChunkIsGone(): void {
  addEventListener('vite:preloadError', (event) => {
    const lastMs = Number(sessionStorage.getItem(STORAGE_KEY) ?? 0)
    if (Date.now() - lastMs < PAUSE_MS) return
    event.preventDefault()
    sessionStorage.setItem(STORAGE_KEY, String(Date.now()))
    location.reload()
  })
}
