import type { SentParts } from './upload-in-parts.ts'

/** The parts that this browser sent of a file. Another file of the same name has another size or time. */
export function sentPartsOf(file: File, purpose: string) {
  const key = `parkway.upload.${purpose}.${file.size}.${file.lastModified}.${file.name}`
  return {
    read: (): SentParts | null => {
      try {
        const parsed: unknown = JSON.parse(localStorage.getItem(key) ?? 'null')
        return isSentParts(parsed) ? parsed : null
      } catch {
        return null
      }
    },
    keep: (sent: SentParts | null): void => {
      try {
        if (sent === null) localStorage.removeItem(key)
        else localStorage.setItem(key, JSON.stringify(sent))
      } catch {
        // Without storage a reload begins anew.
      }
    },
  }
}

function isSentParts(value: unknown): value is SentParts {
  if (typeof value !== 'object' || value === null) return false
  const { uploadId, expiresAtMs, partIds } = value as Record<keyof SentParts, unknown>
  return typeof uploadId === 'string' && typeof expiresAtMs === 'number' && Array.isArray(partIds)
}
