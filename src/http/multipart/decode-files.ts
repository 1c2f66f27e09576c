import { AppError, invalidValue } from '../../kernel/app-error.ts'
import { isRecord } from '../../kernel/is-record.ts'
import type { FileRule, FormDescription, UploadedFile } from './form.ts'
import type { Spool } from './spool.ts'

const DATA_URI = /^data:([^;,]{0,100})(?:;[^;,]{0,100}){0,4};base64,/

/** The files of a JSON body, written to the disk as if they had been uploaded. */
export async function decodeFiles(
  description: FormDescription,
  body: unknown,
  spool: Spool,
): Promise<readonly UploadedFile[]> {
  const files: UploadedFile[] = []
  const paths: string[] = []
  try {
    for (const [field, rule] of Object.entries(description.files)) {
      const text = isRecord(body) ? body[field] : undefined
      if (!rule.isBase64InJson || typeof text !== 'string') continue
      const { bytes, contentType } = decodeFile(field, rule, text)
      const spooled = await spool.create()
      paths.push(spooled.path)
      try {
        await spooled.write(bytes)
      } finally {
        await spooled.close()
      }
      files.push({ field, filename: '', contentType, path: spooled.path, bytes: bytes.length })
    }
    return files
  } catch (error) {
    await spool.remove(paths)
    throw error
  }
}

function decodeFile(
  field: string,
  { bytesMax }: FileRule,
  text: string,
): { readonly bytes: Buffer; readonly contentType: string } {
  const [prefix = '', contentType = ''] = DATA_URI.exec(text) ?? []
  const bytes = decodeBase64(text.slice(prefix.length))
  if (bytes === null) throw invalidValue(field, `'${field}' must be base64, or a data URI with base64.`)
  if (bytes.length > bytesMax) {
    const message = `'${field}' is larger than ${Math.floor(bytesMax / (1024 * 1024))} MB.`
    throw new AppError('request_too_large', message, { param: field })
  }
  return { bytes, contentType }
}

/** Null for what is none. Node's decoder reads past what does not belong, and then there is less than there should be. */
function decodeBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64')
  const isWhole = (length: number): boolean => bytes.length === Math.floor((length * 3) / 4)
  if (isWhole(lengthWithoutPadding(text))) return bytes
  return isWhole(lengthWithoutPadding(text.replaceAll(/\s+/g, ''))) ? bytes : null
}

function lengthWithoutPadding(text: string): number {
  return text.endsWith('==') ? text.length - 2 : text.endsWith('=') ? text.length - 1 : text.length
}
