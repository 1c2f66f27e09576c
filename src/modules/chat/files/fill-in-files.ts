import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import { AppError, invalidValue } from '../../../kernel/app-error.ts'
import { editJsonObject } from '../../../kernel/json/edit-json-object.ts'
import { CONTENT_HEAD_BYTES, recogniseContent } from '../../../kernel/media/recognise-content.ts'
import type { Place } from '../../../storage/place.ts'
import { guessMediaType, kindOfType } from '../../../wires/media-types.ts'
import type { InferenceRequest } from '../../inference/inference.ts'

/** A file of a client, which its requests may name by its id. */
interface ClientFile {
  readonly purpose: string
  readonly filename: string
  /** As the client said. */
  readonly mimeType: string | null
  readonly bytes: number
  /** The caller must read it to the end or destroy it. */
  open(): Promise<Readable>
}

/** Returns null also for files of other accounts and projects, and for those that were deleted or have expired. */
export type FindClientFile = (place: Place, fileId: string) => Promise<ClientFile | null>

/** Where a request names a file. */
export interface NamedFile {
  readonly fileId: string
  readonly param: string
  /** Null: of any kind. */
  readonly kind: 'image' | null
}

export interface FilledFile {
  readonly filename: string
  readonly mediaType: string
  readonly content: Buffer
  /** As base64. Computed once. */
  readonly base64: string
}

/** How requests of a wire name files. */
export interface FileNaming<Body> {
  /** Looks at parts only, and reads nothing. */
  find(body: Body): readonly NamedFile[]
  /** Puts files into the body; null instead of one leaves an empty text in its place. Returns the members that changed. */
  replace(body: Body, fileOf: (fileId: string) => FilledFile | null): Partial<Body>
}

/** The limit for all files of a request together, as for those that it names by address. Each use counts. */
const BYTES_MAX = 20_000_000
const USES_MAX = 64
const PURPOSES: ReadonlySet<string> = new Set(['user_data', 'vision'])

/** The request without its files, to check the rest before any file is read. */
export function leaveOutFiles<Body extends object>(
  naming: FileNaming<Body>,
  request: InferenceRequest<Body>,
): InferenceRequest<Body> {
  return withMembers(
    request,
    naming.replace(request.body, () => null),
  )
}

interface FillOptions {
  readonly named: readonly NamedFile[]
  readonly find: FindClientFile
  /** Takes memory for what the files add to the text. Throws if there is none. */
  readonly takeRoom: (textBytes: number) => void | Promise<void>
}

/** The request with its files, as if the client had sent them with it. */
export async function fillInFiles<Body extends object>(
  naming: FileNaming<Body>,
  request: InferenceRequest<Body>,
  { named, find, takeRoom }: FillOptions,
): Promise<InferenceRequest<Body>> {
  const { found, bytes } = await findFiles(named, (fileId) => find(request.caller, fileId))
  const expectedBytes = base64Length(bytes)
  // Before any file is read: many requests at once would otherwise read theirs before one of them is refused.
  await takeRoom(expectedBytes)
  const files = new Map<string, FilledFile>()
  for (const [fileId, { file, param }] of found) files.set(fileId, await readFile(file, param))
  for (const { fileId, param, kind } of named) {
    const { mediaType = '' } = files.get(fileId) ?? {}
    if (kind !== null && kindOfType(mediaType) !== kind)
      throw invalidValue(param, `The file of '${param}' is ${mediaType}, not an image.`)
  }
  const filled = withMembers(
    request,
    naming.replace(request.body, (fileId) => files.get(fileId) ?? null),
  )
  // A text with many escaped characters is longer.
  const moreBytes = filled.bytes - request.bytes - expectedBytes
  if (moreBytes > 0) request.countRead?.(moreBytes)
  return filled
}

function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4
}

interface FoundFiles {
  readonly found: ReadonlyMap<string, { readonly file: ClientFile; readonly param: string }>
  /** Of all uses. */
  readonly bytes: number
}

/** Finds and checks all of them before the first is read. */
async function findFiles(
  named: readonly NamedFile[],
  find: (fileId: string) => Promise<ClientFile | null>,
): Promise<FoundFiles> {
  const found = new Map<string, { readonly file: ClientFile; readonly param: string }>()
  let bytes = 0
  for (const [index, { fileId, param }] of named.entries()) {
    if (index === USES_MAX) throw invalidValue(param, `A request may name ${USES_MAX} files.`)
    const file = found.get(fileId)?.file ?? (await find(fileId))
    if (file === null) {
      const message = `There is no file with the id in '${param}'. It may have been deleted, or have expired.`
      throw new AppError('not_found', message, { param })
    }
    if (!PURPOSES.has(file.purpose)) {
      const message = `The file of '${param}' has the purpose ${file.purpose}. Requests may name files for user_data or vision.`
      throw invalidValue(param, message)
    }
    bytes += file.bytes
    if (bytes > BYTES_MAX) {
      const message = `The files that a request names may have ${BYTES_MAX / 1_000_000} MB together.`
      throw new AppError('request_too_large', message, { param })
    }
    if (!found.has(fileId)) found.set(fileId, { file, param })
  }
  return { found, bytes }
}

async function readFile(file: ClientFile, param: string): Promise<FilledFile> {
  const chunks: Uint8Array[] = []
  const source = await file.open().catch((error: unknown) => {
    // It was deleted since it was found.
    throw error instanceof AppError ? new AppError(error.code, error.message, { param }) : error
  })
  for await (const chunk of source as AsyncIterable<Uint8Array>) chunks.push(chunk)
  const content = Buffer.concat(chunks)
  return {
    filename: file.filename,
    mediaType: mediaTypeOf(file, content),
    content,
    base64: content.toString('base64'),
  }
}

/** What a file is, by its bytes first: vendors read what is there, whatever it is called. */
function mediaTypeOf(
  { filename, mimeType }: Pick<ClientFile, 'filename' | 'mimeType'>,
  content: Buffer,
): string {
  const said = mimeType !== null && TYPE.test(mimeType) && !VAGUE.has(mimeType) ? mimeType : undefined
  const claimed = guessMediaType(filename) ?? said
  const recognised = recogniseContent(content.subarray(0, CONTENT_HEAD_BYTES))
  if (recognised !== null) {
    const kind = claimed === undefined ? null : kindOfType(claimed)
    return claimed !== undefined && kind !== null && recognised.kinds.includes(kind)
      ? claimed
      : recognised.mediaType
  }
  return claimed ?? (isUtf8(content) ? 'text/plain' : 'application/octet-stream')
}

/** It becomes part of a data URI. */
const TYPE = /^[a-z0-9.+-]{1,100}\/[a-z0-9.+-]{1,100}$/
const VAGUE: ReadonlySet<string> = new Set(['application/octet-stream', 'binary/octet-stream'])

function withMembers<Body extends object>(
  request: InferenceRequest<Body>,
  members: Partial<Body>,
): InferenceRequest<Body> {
  const body = { ...request.body, ...members }
  const edits = new Map(Object.entries(members).map(([name, value]) => [name, JSON.stringify(value)]))
  const text = editJsonObject(request.text, edits) ?? JSON.stringify(body)
  return { ...request, body, text, bytes: Buffer.byteLength(text) }
}
