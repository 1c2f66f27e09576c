import { createReadStream } from 'node:fs'
import { Type, type Static } from 'typebox'
import { invalidValue, AppError, notFound } from '../../../kernel/app-error.ts'
import {
  BATCH_FILE_BYTES_MAX,
  FILE_BYTES_MAX,
  FILE_PURPOSES,
  UPLOAD_PURPOSES,
  type Files,
} from '../../../modules/files/files.ts'
import { nullable } from '../../../wires/nullable.ts'
import { uuidOfFile } from '../../../wires/openai-files/file-id.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'
import { inProject } from '../../access.ts'
import { sendFile } from '../../answers/send-file.ts'
import type { UploadedFile } from '../../multipart/form.ts'
import { ByteValues } from '../../multipart/read-byte-values.ts'
import { defineRoute, type Route } from '../../route.ts'
import { listOf, organizationList } from '../organization/organization-list.ts'
import { speaksAnthropic } from '../../speaks-anthropic.ts'
import {
  AnthropicListMembers,
  deletedToAnthropic,
  fileToAnthropic,
  listForAnthropic,
} from './anthropic-files.ts'
import { ExpiresAfter, FileAnswer, fileToWire } from './file-wire.ts'

const LIMIT_MAX = 10_000

const FileBody = Type.Object(
  {
    purpose: Type.Optional(
      Type.Enum([...UPLOAD_PURPOSES], {
        description: 'What it is for. Required, except of clients of Anthropic: their files are `user_data`.',
      }),
    ),
    file: Type.Optional(
      Type.Union([Type.String(), ByteValues], {
        description:
          'In a JSON body the file in base64, as a data URI, or as what `JSON.stringify` makes of a `Uint8Array` or a `Buffer`. In a form it is a file.',
      }),
    ),
    filename: nullable(
      Type.String({ minLength: 1, maxLength: 255, description: 'Its name. A form has it beside the file.' }),
    ),
    expires_after: ExpiresAfter,
    expires_in_seconds: Type.Optional(
      Type.Integer({
        minimum: 3_600,
        maximum: 7_776_000,
        description: 'Of clients of Anthropic: how long the file is kept.',
      }),
    ),
  },
  {
    title: 'FileUpload',
    examples: [
      {
        purpose: 'user_data',
        filename: 'note.txt',
        file: 'SGVsbG8=',
        expires_after: { anchor: 'created_at', seconds: 86_400 },
      },
    ],
  },
)

const FORM = {
  files: {
    file: {
      countMax: 1,
      bytesMax: FILE_BYTES_MAX,
      isRequired: true,
      isBase64InJson: true,
      description: 'The file.',
    },
  },
} as const

const FilesQuery = Type.Object({
  purpose: Type.Optional(Type.Enum([...FILE_PURPOSES], { description: 'Only files for this purpose.' })),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: LIMIT_MAX, description: 'How many at most.' }),
  ),
  order: Type.Optional(
    Type.Enum(['asc', 'desc'], { default: 'desc', description: 'By age: `desc` begins with the newest.' }),
  ),
  after: Type.Optional(
    Type.String({ maxLength: 256, description: 'The id of a file; those behind it follow.' }),
  ),
  ...AnthropicListMembers,
})

const FileParams = Type.Object({ id: Type.String({ maxLength: 256, description: 'The id of a file.' }) })

const Deleted = Type.Object({
  id: Id,
  object: objectName('file'),
  deleted: Type.Literal(true, { description: 'Whether it is deleted now.' }),
})

const Content = { contentType: 'application/octet-stream', schema: Type.String({ format: 'binary' }) }

interface FileRouteOptions {
  readonly files: Files
  /** Called when a file could not be read to its end. */
  readonly onBroken: (error: unknown, requestId: string) => void
}

const AT = '/v1/files'
const shared = { tag: 'Files', access: inProject('models.use') } as const

/** Files of clients, and the results of their batches. */
export const fileRoutes = ({ files, onBroken }: FileRouteOptions): Route[] => [
  defineRoute({
    ...shared,
    method: 'POST',
    path: AT,
    summary: 'Upload a file',
    otherErrors: [409, 413, 503],
    body: FileBody,
    form: FORM,
    room: {
      take: (caller, _params, bytes) =>
        files.reserve({ place: caller, bytes: fileBytesOf(bytes), bytesMax: FILE_BYTES_MAX }),
      release: ({ id }) => files.release(id),
    },
    responses: { 200: { description: 'The file.', schema: FileAnswer } },
    handle: async ({ caller, body, files: [file], room, headers }) => {
      if (file === undefined) throw invalidValue('file', "'file' must be a file.")
      const isAnthropic = speaksAnthropic(headers)
      const { purpose = isAnthropic ? 'user_data' : undefined } = body
      if (purpose === undefined) throw missingPurpose()
      checkSize(file, purpose)
      const stored = await files.store({
        place: caller,
        keyId: caller.keyId,
        purpose,
        filename: body.filename ?? file.filename,
        mimeType: file.contentType,
        source: createReadStream(file.path),
        bytes: file.bytes,
        ...(room === null ? {} : { reservation: room }),
        expiresAfterSeconds: body.expires_after?.seconds ?? body.expires_in_seconds ?? null,
      })
      return isAnthropic ? fileToAnthropic(stored) : fileToWire(stored)
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: AT,
    summary: 'List files',
    query: FilesQuery,
    responses: { 200: { description: 'The files.', schema: organizationList('FileList', FileAnswer) } },
    handle: async ({ caller, query, headers }) => {
      if (speaksAnthropic(headers)) return listForAnthropic(files, caller, query)
      const { purpose = null, limit = LIMIT_MAX, order = 'desc', after } = query
      const afterId = after === undefined ? null : uuidOfFile(after)
      if (after !== undefined && afterId === null)
        throw invalidValue('after', 'after must be the id of a file.')
      return listOf(await files.list(caller, { purpose }, { limit, order, afterId }), fileToWire)
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${AT}/:id`,
    summary: 'Read what a file is',
    params: FileParams,
    responses: { 200: { description: 'The file, without its content.', schema: FileAnswer } },
    handle: async ({ caller, params, headers }) => {
      const file = await files.read(caller, requireUuid(params))
      return speaksAnthropic(headers) ? fileToAnthropic(file) : fileToWire(file)
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: `${AT}/:id`,
    summary: 'Delete a file',
    params: FileParams,
    responses: { 200: { description: 'Nobody can read it any more.', schema: Deleted } },
    handle: async ({ caller, params, headers }) => {
      await files.delete(caller, requireUuid(params))
      if (speaksAnthropic(headers)) return deletedToAnthropic(params.id)
      return { id: params.id, object: 'file', deleted: true }
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${AT}/:id/content`,
    summary: 'Download a file',
    otherErrors: [503],
    params: FileParams,
    responses: {
      200: { description: 'The file.', ...Content },
      206: { description: 'The part that `Range` asked for.', ...Content },
      304: { description: 'The client has it: `If-None-Match`.' },
      416: { description: 'Nothing of the file lies in the `Range`.' },
    },
    handle: async ({ caller, params, headers, reply, exchange }) => {
      const file = await files.read(caller, requireUuid(params))
      const { id, bytes, filename } = file
      const sent = {
        id,
        bytes,
        contentType: 'application/octet-stream',
        open: (range?: Parameters<Files['open']>[1]) => files.open(file, range),
      }
      const error = await sendFile(
        sent,
        { headers, reply, exchange },
        {
          // Asked for again each time, because it may have been deleted.
          'cache-control': 'private, no-cache',
          'content-disposition': `attachment; filename*=UTF-8''${encodeName(filename)}`,
          'x-content-type-options': 'nosniff',
        },
      )
      if (error !== null && !exchange.cancellation.isCancelled) onBroken(error, exchange.id)
    },
  }),
]

/** What a form has around its file is no part of it. */
const FORM_OVERHEAD_BYTES = 4096

/** What the file of a form has at least, by the length of the form. */
function fileBytesOf(formBytes: number | null): number | null {
  return formBytes === null ? null : Math.max(0, Math.min(formBytes - FORM_OVERHEAD_BYTES, FILE_BYTES_MAX))
}

function missingPurpose(): AppError {
  const param = 'purpose'
  return new AppError('missing_required_parameter', `Missing required parameter: '${param}'.`, { param })
}

function checkSize({ bytes }: UploadedFile, purpose: (typeof UPLOAD_PURPOSES)[number]): void {
  if (purpose !== 'batch' || bytes <= BATCH_FILE_BYTES_MAX) return
  const message = `A file for a batch has ${BATCH_FILE_BYTES_MAX / 1024 / 1024} MB at most.`
  throw new AppError('request_too_large', message, { param: 'file' })
}

function requireUuid({ id }: Static<typeof FileParams>): string {
  const uuid = uuidOfFile(id)
  if (uuid === null) throw notFound('file')
  return uuid
}

/** Like `encodeURIComponent`, for a header: RFC 8187 also excludes these characters. */
function encodeName(name: string): string {
  return encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  )
}
