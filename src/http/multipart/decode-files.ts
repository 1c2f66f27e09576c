import { AppError, invalidValue } from '../../kernel/app-error.ts'
import { isRecord } from '../../kernel/is-record.ts'
import type { OwnFile } from '../../modules/media/media.ts'
import { readByteValues } from './read-byte-values.ts'
import type { FileRule, FormDescription, UploadedFile } from './form.ts'
import type { Spool } from './spool.ts'

const DATA_URI = /^data:([^;,]{0,100})(?:;[^;,]{0,100}){0,4};base64,/

/** Returns the caller's file at a URL of this gateway, or null for other URLs. */
export type OpenFileAddress = (url: string, field: string) => Promise<OwnFile | null>

/** Writes the files of a JSON body to disk, like uploaded files. */
export async function decodeFiles(
  description: FormDescription,
  body: unknown,
  { spool, openAddress }: { readonly spool: Spool; readonly openAddress: OpenFileAddress },
): Promise<readonly UploadedFile[]> {
  const files: UploadedFile[] = []
  const paths: string[] = []
  try {
    for (const [field, rule] of Object.entries(description.files)) {
      const given = isRecord(body) ? body[field] : undefined
      if (!rule.isBase64InJson || given === undefined || given === null) continue
      const { source, contentType } = await readGiven(field, rule, given, openAddress)
      const spooled = await spool.create()
      paths.push(spooled.path)
      try {
        for await (const chunk of source) await spooled.write(chunk)
      } finally {
        await spooled.close()
      }
      files.push({ field, filename: '', contentType, path: spooled.path, bytes: spooled.bytes })
    }
    return files
  } catch (error) {
    await spool.remove(paths)
    throw error
  }
}

interface OpenedFile {
  readonly source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
  readonly contentType: string
}

async function readGiven(
  field: string,
  rule: FileRule,
  given: unknown,
  openAddress: OpenFileAddress,
): Promise<OpenedFile> {
  if (typeof given === 'string')
    return isAddress(given) ? openFile(field, rule, given, openAddress) : decodeFile(field, rule, given)
  const bytes = readByteValues(given, rule.bytesMax)
  if (bytes === 'too_large') throw tooLarge(field, rule.bytesMax)
  if (bytes === null)
    throw invalidValue(field, `'${field}' must be base64, a data URI with base64, or bytes.`)
  return { source: [bytes], contentType: '' }
}

function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text)
}

async function openFile(
  field: string,
  { bytesMax }: FileRule,
  url: string,
  openAddress: OpenFileAddress,
): Promise<OpenedFile> {
  const file = await openAddress(url, field)
  if (file === null) {
    const message = `'${field}' must be base64, a data URI with base64, or the address of a file of this gateway.`
    throw invalidValue(field, message)
  }
  if (file.bytes > bytesMax) throw tooLarge(field, bytesMax)
  return { source: await file.open(), contentType: file.contentType }
}

function decodeFile(field: string, { bytesMax }: FileRule, text: string): OpenedFile {
  const [prefix = '', contentType = ''] = DATA_URI.exec(text) ?? []
  const bytes = decodeBase64(text.slice(prefix.length))
  if (bytes === null) throw invalidValue(field, `'${field}' must be base64, or a data URI with base64.`)
  if (bytes.length > bytesMax) throw tooLarge(field, bytesMax)
  return { source: [bytes], contentType }
}

function tooLarge(field: string, bytesMax: number): AppError {
  const message = `'${field}' is larger than ${Math.floor(bytesMax / (1024 * 1024))} MB.`
  return new AppError('request_too_large', message, { param: field })
}

/** Returns null for invalid base64. Node's decoder skips invalid characters, so the result is too short. */
function decodeBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64')
  const isWhole = (length: number): boolean => bytes.length === Math.floor((length * 3) / 4)
  if (isWhole(lengthWithoutPadding(text))) return bytes
  return isWhole(lengthWithoutPadding(text.replaceAll(/\s/g, ''))) ? bytes : null
}

function lengthWithoutPadding(text: string): number {
  return text.endsWith('==') ? text.length - 2 : text.endsWith('=') ? text.length - 1 : text.length
}
