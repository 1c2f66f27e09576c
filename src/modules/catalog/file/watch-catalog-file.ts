import { statSync, watch, type FSWatcher } from 'node:fs'
import { basename, dirname } from 'node:path'

export interface WatchCatalogFileOptions {
  readonly file: string
  readonly onChange: () => void
  readonly pollIntervalMs?: number | undefined
  /** How long a file must be unchanged before it is read, because an editor writes in several steps. */
  readonly settleMs?: number | undefined
}

/**
 * Watches one file for changes. Watches its directory, because editors and configuration mounts replace the file by a rename. A
 * slow poll covers systems without events, such as network mounts.
 */
export function watchCatalogFile(options: WatchCatalogFileOptions): { close: () => void } {
  const { file, onChange, pollIntervalMs = 5000, settleMs = 50 } = options
  let lastSeen = readFingerprint(file)
  let settleTimer: NodeJS.Timeout | null = null

  const look = (): void => {
    settleTimer = null
    const seen = readFingerprint(file)
    if (seen === lastSeen) return
    lastSeen = seen
    onChange()
  }
  const lookSoon = (): void => {
    settleTimer ??= setTimeout(look, settleMs).unref()
  }

  const watcher = watchDirectory(dirname(file), (name) => {
    // A configuration mount replaces a link beside the file, so names that start with `..` count too.
    if (name === null || name === basename(file) || name.startsWith('..')) lookSoon()
  })
  const poll = setInterval(lookSoon, pollIntervalMs).unref()

  return {
    close: () => {
      watcher?.close()
      clearInterval(poll)
      if (settleTimer) clearTimeout(settleTimer)
    },
  }
}

function watchDirectory(directory: string, onName: (name: string | null) => void): FSWatcher | null {
  try {
    const watcher = watch(directory, { persistent: false }, (_event, name) => onName(name))
    // If the directory can no longer be watched, only the poll remains.
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return null
  }
}

// Includes inode and size, because a replaced file may have an older or the same modification time.
function readFingerprint(file: string): string {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
  return stats ? `${stats.ino}:${stats.size}:${stats.mtimeNs}` : 'absent'
}
