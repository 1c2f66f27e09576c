import { Type, type Static } from 'typebox'
import { FILE_PURPOSES, type StoredFile } from '../../../modules/files/files.ts'
import { nullable, orNull } from '../../../wires/nullable.ts'
import { fileIdOf } from '../../../wires/openai-files/file-id.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'

export const ExpiresAfter = nullable(
  Type.Object({
    anchor: Type.Literal('created_at', { description: 'From when the time is counted.' }),
    seconds: Type.Integer({
      minimum: 3_600,
      maximum: 2_592_000,
      description: 'How long the file is kept.',
    }),
  }),
  'When it is deleted. Without it the file is kept until somebody deletes it.',
)

export const FileAnswer = Type.Object(
  {
    id: Id,
    object: objectName('file'),
    bytes: Type.Integer({ description: 'Its size.' }),
    created_at: Type.Integer({ description: 'When it was uploaded, in seconds since 1970.' }),
    expires_at: orNull(
      Type.Integer(),
      'When it is deleted, in seconds since 1970. Null: when somebody deletes it.',
    ),
    filename: Type.String({ description: 'Its name, without directories.' }),
    purpose: Type.Enum([...FILE_PURPOSES], {
      description: 'What it is for. The results of batches are `batch_output`.',
    }),
    status: Type.Literal('processed', { description: 'Files are complete as soon as they have an id.' }),
  },
  { title: 'File' },
)

export function fileToWire(file: StoredFile): Static<typeof FileAnswer> {
  return {
    id: fileIdOf(file.id),
    object: 'file',
    bytes: file.bytes,
    created_at: toSeconds(file.createdAtMs),
    expires_at: file.expiresAtMs === null ? null : toSeconds(file.expiresAtMs),
    filename: file.filename,
    purpose: file.purpose,
    status: 'processed',
  }
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000)
}
