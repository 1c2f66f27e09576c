import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { invalidValue } from '../../../kernel/app-error.ts'
import type { Files, StoredFile } from '../../../modules/files/files.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import { guessMediaType } from '../../../wires/media-types.ts'
import { messageFileIdOf, uuidOfFile } from '../../../wires/openai-files/file-id.ts'

const LIMIT_DEFAULT = 20
const LIMIT_MAX = 1_000

/** What lists of Anthropic's clients ask for. */
export const AnthropicListMembers = {
  after_id: Type.Optional(
    Type.String({ maxLength: 256, description: 'Of clients of Anthropic: like `after`.' }),
  ),
  before_id: Type.Optional(
    Type.String({
      maxLength: 256,
      description: 'Of clients of Anthropic: the id of a file; those before it are listed.',
    }),
  ),
  page: Type.Optional(
    Type.String({ maxLength: 256, description: 'Of clients of Anthropic: `next_page` of the page before.' }),
  ),
}

const ListQuery = Type.Object({ ...AnthropicListMembers, limit: Type.Optional(Type.Integer()) })

/** A file in Anthropic's form. */
export function fileToAnthropic(file: StoredFile): object {
  const expiresAt = file.expiresAtMs === null ? null : toTimestamp(file.expiresAtMs)
  return {
    type: 'file',
    id: messageFileIdOf(file.id),
    filename: file.filename,
    mime_type: file.mimeType ?? guessMediaType(file.filename) ?? 'application/octet-stream',
    size_bytes: file.bytes,
    created_at: toTimestamp(file.createdAtMs),
    expires_at: expiresAt,
    downloadable: true,
  }
}

export function deletedToAnthropic(id: string): object {
  return { id, type: 'file_deleted' }
}

/** Newest first. Takes cursors of both generations of Anthropic's SDKs. */
export async function listForAnthropic(
  files: Pick<Files, 'list'>,
  caller: Caller,
  query: Static<typeof ListQuery>,
): Promise<object> {
  const limit = Math.min(query.limit ?? LIMIT_DEFAULT, LIMIT_MAX)
  const beforeId = readCursor('before_id', query.before_id)
  const afterId = readCursor('after_id', query.after_id) ?? readCursor('page', query.page)
  const isBackwards = beforeId !== null
  const page = await files.list(
    caller,
    { purpose: null },
    { limit, order: isBackwards ? 'asc' : 'desc', afterId: beforeId ?? afterId },
  )
  const data = (isBackwards ? page.items.toReversed() : page.items).map((file) => fileToAnthropic(file))
  const ends = isBackwards ? [page.items.at(-1), page.items[0]] : [page.items[0], page.items.at(-1)]
  const [firstId = null, lastId = null] = ends.map((file) =>
    file === undefined ? null : messageFileIdOf(file.id),
  )
  return {
    data,
    has_more: page.hasMore,
    first_id: firstId,
    last_id: lastId,
    next_page: page.hasMore && !isBackwards ? lastId : null,
  }
}

function readCursor(param: string, given: string | undefined): string | null {
  if (given === undefined) return null
  const uuid = uuidOfFile(given)
  if (uuid === null) throw invalidValue(param, `${param} must be the id of a file.`)
  return uuid
}
