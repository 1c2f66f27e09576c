import type { ConfigDocument } from '../../api/configuration.ts'

type ReadDocument =
  | { readonly document: ConfigDocument; readonly problem: null }
  | { readonly problem: string }

/** Parses YAML or JSON that a person wrote. The gateway checks what is in it. */
export async function readDocument(text: string): Promise<ReadDocument> {
  const { parseDocument } = await import('yaml')
  const parsed = parseDocument(text)
  const [error] = parsed.errors
  if (error !== undefined) return { problem: error.message.split('\n')[0] ?? 'This is not YAML.' }
  // References that repeat a part many times would not end.
  const value: unknown = parsed.toJS({ maxAliasCount: 0 })
  return isDocument(value)
    ? { document: value, problem: null }
    : { problem: 'The document begins with "parkway: 1", followed by providers, models or prices.' }
}

function isDocument(value: unknown): value is ConfigDocument {
  return typeof value === 'object' && value !== null && Reflect.get(value, 'parkway') === 1
}
