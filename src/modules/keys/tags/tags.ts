import { invalidValue, type AppError } from '../../../kernel/app-error.ts'
import { isRecord } from '../../../kernel/is-record.ts'

/** Values by name. */
export type Tags = ReadonlyMap<string, string>

/** Of a request, and of what a key or a project fixes. */
export const TAGS_MAX = 10
const NAME = /^[a-z0-9_.-]{1,64}$/
const VALUE_LENGTH_MAX = 128
/** Values are separated by commas, and from their names by `=`. */
const UNFIT_VALUE = /[\p{Cc},=]/u

export const TAG_FORM =
  `at most ${TAGS_MAX} of the form name=value, separated by commas. A name has at most 64 of a-z, 0-9, "_", "." and "-"; ` +
  `a value has at most ${VALUE_LENGTH_MAX} characters, without commas, "=" and control characters.`

export function isTagName(name: string): boolean {
  return NAME.test(name)
}

export function isTagValue(value: string): boolean {
  return value !== '' && value.length <= VALUE_LENGTH_MAX && value.isWellFormed() && !UNFIT_VALUE.test(value)
}

/** The label of the charges that have this tag. */
export function labelOfTag(name: string, value: string): string {
  return `tag:${name}=${value}`
}

/** The label of a tag that is written as `name=value`. Null if it is none. */
export function parseTagLabel(text: string): string | null {
  const equals = text.indexOf('=')
  const [name, value] = [text.slice(0, Math.max(0, equals)), text.slice(equals + 1)]
  return isTagName(name) && isTagValue(value) ? labelOfTag(name, value) : null
}

const TAG = 'tag:'

/** The tags among labels. */
export function tagsOf(labels: readonly string[]): Tags {
  return new Map(
    labels
      .filter((label) => label.startsWith(TAG))
      .map((label) => {
        const equals = label.indexOf('=')
        return [label.slice(TAG.length, equals), label.slice(equals + 1)]
      }),
  )
}

export const TAGS_HEADER = 'x-gateway-tags'

/** Reads `team=search,feature=chat`. Throws for what is no tag: who sends the header means it. */
export function parseTagsHeader(header: string): Tags {
  const tags = new Map<string, string>()
  const text = readUtf8(header)
  if (text.trim() === '') return tags
  const parts = text.split(',', TAGS_MAX + 1)
  if (parts.length > TAGS_MAX) throw invalidHeader('It has too many tags.')
  for (const part of parts) {
    const [name = '', value = '', ...rest] = part.split('=').map((side) => side.trim())
    if (!isTagName(name) || !isTagValue(value) || rest.length > 0)
      throw invalidHeader('One of its tags is invalid.')
    if (tags.has(name)) throw invalidHeader(`It has '${name}' twice.`)
    tags.set(name, value)
  }
  return tags
}

/** Headers arrive as Latin-1; clients send UTF-8. */
function readUtf8(header: string): string {
  const text = Buffer.from(header, 'latin1').toString('utf8')
  if (text.includes('\uFFFD')) throw invalidHeader('It is not UTF-8.')
  return text
}

function invalidHeader(problem: string): AppError {
  return invalidValue(TAGS_HEADER, `The header ${TAGS_HEADER} has tags: ${TAG_FORM} ${problem}`)
}

/** The members of `metadata` that are tags. Clients use it for their own things too, so what does not fit is left out. */
export function readMetadata(metadata: unknown): Tags {
  const tags = new Map<string, string>()
  if (!isRecord(metadata)) return tags
  for (const [name, value] of Object.entries(metadata)) {
    if (tags.size === TAGS_MAX) break
    if (typeof value === 'string' && isTagName(name) && isTagValue(value)) tags.set(name, value)
  }
  return tags
}
