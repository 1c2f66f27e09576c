/** A request to the API, to be shown as code. */
export interface ApiCall {
  /** Such as `/v1/chat/completions`. */
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  /** The files of a form, by field. Without any, the body is JSON. */
  readonly files?: Readonly<Record<string, string>> | undefined
  /** The file that a binary answer is written to. */
  readonly savedAs?: string | undefined
}

const TEXT_LENGTH_MAX = 400

/** Shortens long texts, such as pictures in base64, because they make an example unreadable. */
export function shortenBody(value: unknown): unknown {
  if (typeof value === 'string')
    return value.startsWith('data:') && value.length > TEXT_LENGTH_MAX ? `${value.slice(0, 40)}…` : value
  if (Array.isArray(value)) return value.map(shortenBody)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortenBody(member)]))
}
