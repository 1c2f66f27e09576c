import { statSync, watch, type FSWatcher } from 'node:fs'
import { basename, dirname } from 'node:path'

export interface WatchCatalogFileOptions {
  readonly file: string
  readonly onChange: () => void
  readonly pollIntervalMs?: number | undefined
  /** How long a file must be left alone before it is read: an editor writes in several steps. */
  readonly settleMs?: number | undefined
}

/**
 * Follows one file. The directory is watched rather than the file, because editors and configuration mounts replace the
 * file by a rename; a slow poll stands in where no events arrive, such as on network mounts.
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
    // A configuration mount swaps a link beside the file, so every name but a known other one counts.
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
    // The poll goes on alone when the directory can no longer be watched.
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return null
  }
}

// Inode and size beside the time: a replaced file can carry an older or an equal time.
function readFingerprint(file: string): string {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
  return stats ? `${stats.ino}:${stats.size}:${stats.mtimeNs}` : 'absent'
}
