import { rm } from 'node:fs/promises'

/** A process that was just killed may still write into its directory while it is removed. */
export function removeDirectory(directory: string): Promise<void> {
  return rm(directory, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 })
}
