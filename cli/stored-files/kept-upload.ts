import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { profilePath } from '../profile/profile-file.ts'

/** What was sent of a file, so that the command goes on there when it is called again. */
export interface SentParts {
  readonly uploadId: string
  readonly expiresAtMs: number
  readonly partIds: readonly string[]
}

/** What makes an upload the same: the gateway, the key, the file as it is, and what is asked for it. */
export interface UploadMarks {
  readonly baseUrl: string
  readonly apiKey: string
  readonly path: string
  readonly bytes: number
  readonly changedAtMs: number
  readonly purpose: string
  readonly expiresSeconds: number | null
}

export interface KeptUpload {
  /** Null if nothing was sent, or it cannot be read. */
  read(): SentParts | null
  /** Null forgets it. */
  keep(sent: SentParts | null): void
}

/** Keeps it beside the profiles. The key is in the name as part of a hash only. */
export function openKeptUpload(marks: UploadMarks, environment: NodeJS.ProcessEnv): KeptUpload {
  const name = createHash('sha256')
    .update(JSON.stringify(Object.values(marks)))
    .digest('hex')
    .slice(0, 32)
  const path = join(dirname(profilePath(environment)), 'uploads', `${name}.json`)
  return {
    read: () => {
      try {
        return readSent(JSON.parse(readFileSync(path, 'utf8')))
      } catch {
        return null
      }
    },
    keep: (sent) => {
      try {
        if (sent === null) return rmSync(path, { force: true })
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
        writeFileSync(path, JSON.stringify(sent), { mode: 0o600 })
      } catch {
        // Without it, the next call begins anew.
      }
    },
  }
}

function readSent(value: unknown): SentParts | null {
  if (typeof value !== 'object' || value === null) return null
  const { uploadId, expiresAtMs, partIds } = value as Partial<Record<keyof SentParts, unknown>>
  if (typeof uploadId !== 'string' || typeof expiresAtMs !== 'number' || !Array.isArray(partIds)) return null
  return partIds.every((id) => typeof id === 'string') ? { uploadId, expiresAtMs, partIds } : null
}
