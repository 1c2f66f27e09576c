import { createReadStream } from 'node:fs'
import { Type, type Static } from 'typebox'
import { invalidValue, notFound } from '../../../kernel/app-error.ts'
import {
  PART_BYTES_MAX,
  UPLOAD_BYTES_MAX,
  UPLOAD_PURPOSES,
  type StoredFile,
  type Upload,
  type Uploads,
} from '../../../modules/files/files.ts'
import { nullable, orNull } from '../../../wires/nullable.ts'
import { partIdOf, uploadIdOf, uuidOfPart, uuidOfUpload } from '../../../wires/openai-files/file-id.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'
import { inProject } from '../../access.ts'
import { ByteValues } from '../../multipart/read-byte-values.ts'
import { defineRoute, type Route } from '../../route.ts'
import { ExpiresAfter, FileAnswer, fileToWire } from './file-wire.ts'

const UploadBody = Type.Object(
  {
    purpose: Type.Enum([...UPLOAD_PURPOSES], { description: 'What the file is for.' }),
    filename: Type.String({ minLength: 1, maxLength: 255, description: 'Its name.' }),
    bytes: Type.Integer({
      minimum: 1,
      maximum: UPLOAD_BYTES_MAX,
      description: 'The size of the whole file. The parts have to have exactly that together.',
    }),
    mime_type: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'What it holds, such as `text/csv`.',
    }),
    expires_after: ExpiresAfter,
  },
  {
    title: 'UploadRequest',
    examples: [{ purpose: 'user_data', filename: 'note.txt', bytes: 5, mime_type: 'text/plain' }],
  },
)

const PartBody = Type.Object(
  {
    data: Type.Optional(
      Type.Union([Type.String(), ByteValues], {
        description:
          'In a JSON body the part in base64, as a data URI, or as what `JSON.stringify` makes of a `Uint8Array` or a `Buffer`. In a form it is a file.',
      }),
    ),
  },
  { title: 'UploadPartRequest', examples: [{ data: 'SGVsbG8=' }] },
)

const PART_FORM = {
  files: {
    data: {
      countMax: 1,
      bytesMax: PART_BYTES_MAX,
      isRequired: true,
      isBase64InJson: true,
      description: 'The bytes of the part.',
    },
  },
} as const

const CompleteBody = Type.Object(
  {
    part_ids: Type.Array(Type.String({ maxLength: 256 }), {
      minItems: 1,
      maxItems: 1_000,
      description: 'The parts in the order of the file.',
    }),
    md5: nullable(
      Type.String({
        pattern: '^[0-9a-fA-F]{32}$',
        description: 'Of the whole file. If the parts have another one, no file is made.',
      }),
    ),
  },
  {
    title: 'UploadCompletion',
    examples: [{ part_ids: ['part_01a1f453a9a9711e9615a634c727deac'] }],
  },
)

const UploadAnswer = Type.Object(
  {
    id: Id,
    object: objectName('upload'),
    bytes: Type.Integer({ description: 'The declared size.' }),
    created_at: Type.Integer({ description: 'In seconds since 1970.' }),
    expires_at: Type.Integer({ description: 'Until when it can be completed, in seconds since 1970.' }),
    filename: Type.String({ description: 'The name of the file.' }),
    purpose: Type.Enum([...UPLOAD_PURPOSES], { description: 'What the file is for.' }),
    status: Type.Enum(['pending', 'completed', 'cancelled', 'expired'], {
      description: 'What became of it.',
    }),
    file: orNull(FileAnswer, 'The file of a completed upload. Null: not completed, or deleted since.'),
  },
  { title: 'Upload' },
)

const PartAnswer = Type.Object(
  {
    id: Id,
    object: objectName('upload.part'),
    created_at: Type.Integer({ description: 'In seconds since 1970.' }),
    upload_id: Type.String({ description: 'The upload.' }),
  },
  { title: 'UploadPart' },
)

const UploadParams = Type.Object({
  id: Type.String({ maxLength: 256, description: 'The id of an upload.' }),
})

const AT = '/v1/uploads'
const shared = { tag: 'Files', access: inProject('models.use') } as const

/** Large files, in parts that arrive in any order. */
export const uploadRoutes = ({ uploads }: { uploads: Uploads }): Route[] => [
  defineRoute({
    ...shared,
    method: 'POST',
    path: AT,
    summary: 'Begin an upload in parts',
    otherErrors: [409, 413],
    body: UploadBody,
    responses: { 200: { description: 'The upload.', schema: UploadAnswer } },
    handle: async ({ caller, body }) => {
      const upload = await uploads.create({
        place: caller,
        keyId: caller.keyId,
        purpose: body.purpose,
        filename: body.filename,
        mimeType: body.mime_type,
        bytes: body.bytes,
        fileExpiresAfterSeconds: body.expires_after?.seconds ?? null,
      })
      return uploadToWire(upload, null)
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: `${AT}/:id/parts`,
    summary: 'Add a part to an upload',
    otherErrors: [413, 503],
    params: UploadParams,
    body: PartBody,
    form: PART_FORM,
    room: {
      take: (caller, params, bytes) => uploads.reservePart(caller, requireUuid(params), bytes),
      release: ({ id }) => uploads.releasePart(id),
    },
    responses: { 200: { description: 'The part.', schema: PartAnswer } },
    handle: async ({ caller, params, files: [file], room }) => {
      if (file === undefined) throw invalidValue('data', "'data' must be a file.")
      const part = await uploads.storePart(caller, requireUuid(params), {
        source: createReadStream(file.path),
        bytes: file.bytes,
        ...(room === null ? {} : { reservation: room }),
      })
      return {
        id: partIdOf(part.id),
        object: 'upload.part',
        created_at: toSeconds(part.createdAtMs),
        upload_id: uploadIdOf(part.uploadId),
      }
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: `${AT}/:id/complete`,
    summary: 'Make a file of the parts',
    otherErrors: [409],
    params: UploadParams,
    body: CompleteBody,
    responses: { 200: { description: 'The upload with its file.', schema: UploadAnswer } },
    handle: async ({ caller, params, body }) => {
      const completed = await uploads.complete(caller, requireUuid(params), {
        keyId: caller.keyId,
        partIds: body.part_ids.map(requirePart),
        md5: body.md5 ?? null,
      })
      return uploadToWire(completed.upload, completed.file)
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: `${AT}/:id/cancel`,
    summary: 'Cancel an upload',
    params: UploadParams,
    responses: { 200: { description: 'The upload. Its parts are removed.', schema: UploadAnswer } },
    handle: async ({ caller, params }) =>
      uploadToWire(await uploads.cancel(caller, requireUuid(params)), null),
  }),
]

function uploadToWire(upload: Upload, file: StoredFile | null): object {
  return {
    id: uploadIdOf(upload.id),
    object: 'upload',
    bytes: upload.bytes,
    created_at: toSeconds(upload.createdAtMs),
    expires_at: toSeconds(upload.expiresAtMs),
    filename: upload.filename,
    purpose: upload.purpose,
    status: upload.status,
    file: file === null ? null : fileToWire(file),
  }
}

function requireUuid({ id }: Static<typeof UploadParams>): string {
  const uuid = uuidOfUpload(id)
  if (uuid === null) throw notFound('upload')
  return uuid
}

function requirePart(id: string, index: number): string {
  const uuid = uuidOfPart(id)
  if (uuid === null) throw invalidValue(`part_ids.${index}`, `part_ids.${index} is not the id of a part.`)
  return uuid
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000)
}
