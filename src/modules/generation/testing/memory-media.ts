import { AppError, notFound } from '../../../kernel/app-error.ts'
import { createId } from '../../../kernel/identifiers.ts'
import type { Media } from '../../media/media.ts'

type MemoryMedia = Pick<
  Media,
  'keep' | 'keepFromAddress' | 'requireRoom' | 'read' | 'addressOf' | 'lastingAddressOf' | 'remove'
> & {
  /** By id. */
  readonly files: Map<string, { accountId: string; bytes: Uint8Array }>
  /** The files at URLs. All other URLs fail. */
  readonly addresses: Map<string, Uint8Array>
  readonly fetched: string[]
}

/** A media store in memory. */
export function createMemoryMedia(): MemoryMedia {
  const files: MemoryMedia['files'] = new Map()
  const addresses: MemoryMedia['addresses'] = new Map()
  const fetched: string[] = []
  const put = (accountId: string, bytes: Uint8Array) => {
    const id = createId()
    files.set(id, { accountId, bytes })
    return { id, contentType: 'image/png', bytes: bytes.length, expiresAt: new Date(0) }
  }
  return {
    files,
    addresses,
    fetched,
    keep: async ({ place: { accountId }, source }) => {
      if (source instanceof Uint8Array) return put(accountId, source)
      const chunks: Uint8Array[] = []
      for await (const chunk of source) chunks.push(chunk)
      return put(accountId, Buffer.concat(chunks))
    },
    keepFromAddress: async ({ place: { accountId }, url }) => {
      fetched.push(url)
      const bytes = addresses.get(url)
      if (!bytes) throw new AppError('provider_error', 'its address answers 403.')
      return put(accountId, bytes)
    },
    requireRoom: async () => {},
    read: async ({ accountId }, id) => {
      const file = files.get(id)
      if (file?.accountId !== accountId) throw notFound('file')
      return { bytes: file.bytes, contentType: 'image/png' }
    },
    addressOf: ({ id }) => `https://gateway.test/media/${id}`,
    lastingAddressOf: ({ id }) => `https://gateway.test/media/${id}`,
    remove: async (ids) => {
      for (const id of ids) files.delete(id)
    },
  }
}
