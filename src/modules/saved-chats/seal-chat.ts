import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { invalidValue } from '../../kernel/app-error.ts'
import type { Sealer } from '../../kernel/seal-text.ts'
import type { SealedColumn } from '../../storage/sealed-columns.ts'

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/** As JSON. */
export const CONTENT_BYTES_MAX = 256 * 1024

/** What is kept: what a page needs to go on with it. */
export interface ChatContent {
  readonly model?: string | undefined
  readonly parameters?: Readonly<Record<string, unknown>> | undefined
  readonly messages: readonly Readonly<Record<string, unknown>>[]
}

/** Compresses and encrypts. Throws for content that is too large. */
export async function sealContent(
  sealer: Sealer,
  accountId: string,
  id: string,
  content: ChatContent,
): Promise<Buffer> {
  const bytes = Buffer.from(JSON.stringify(content))
  if (bytes.length > CONTENT_BYTES_MAX)
    throw invalidValue('content', `content may have at most ${CONTENT_BYTES_MAX / 1024} KiB as JSON.`)
  return sealer.sealBytes(await compress(bytes), placeOf('content', accountId, id))
}

/** Returns null if it was sealed with another key. */
export async function openContent(
  sealer: Sealer,
  accountId: string,
  id: string,
  sealed: Uint8Array,
): Promise<ChatContent | null> {
  const compressed = sealer.openBytes(sealed, placeOf('content', accountId, id))
  if (compressed === null) return null
  return JSON.parse((await decompress(compressed)).toString('utf8')) as ChatContent
}

const sealedPart = (part: 'name' | 'content'): SealedColumn => ({
  table: 'saved_chats',
  column: part,
  key: { account_id: 'uuid', id: 'uuid' },
  boundTo: ['account_id', 'id'],
  placeOf: (accountId, id) => placeOf(part, accountId, id),
})

export const SEALED_CHATS: readonly SealedColumn[] = [sealedPart('name'), sealedPart('content')]

export function placeOf(part: 'name' | 'content', accountId = '', id = ''): string {
  return `${part} of saved chat ${accountId} ${id.replaceAll('-', '')}`
}
