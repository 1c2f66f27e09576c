import type { MediaOutput } from '../../media/media-operation.ts'

const BYTES_MAX = 32 * 1024 * 1024

/** Caches the latest outputs: the same work gives the same files, and load tests repeat the same work. */
export interface RecentOutputs {
  remember(key: string, make: () => Promise<MediaOutput>): Promise<MediaOutput>
}

export function createRecentOutputs(bytesMax: number = BYTES_MAX): RecentOutputs {
  const kept = new Map<string, MediaOutput>()
  let keptBytes = 0

  const forget = (key: string): void => {
    const output = kept.get(key)
    if (output === undefined) return
    kept.delete(key)
    keptBytes -= measure(output)
  }

  return {
    async remember(key, make) {
      const known = kept.get(key)
      if (known !== undefined) {
        kept.delete(key)
        kept.set(key, known)
        return known
      }
      const output = await make()
      if (measure(output) > bytesMax / 4) return output
      forget(key)
      kept.set(key, output)
      keptBytes += measure(output)
      for (const oldest of kept.keys()) {
        if (keptBytes <= bytesMax) break
        forget(oldest)
      }
      return output
    },
  }
}

const ENTRY_BYTES = 512

function measure({ files }: MediaOutput): number {
  return files.reduce((sum, file) => sum + (file.kind === 'bytes' ? file.bytes.length : 0), ENTRY_BYTES)
}
