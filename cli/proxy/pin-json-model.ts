import { isModelRoute } from './model-routes.ts'

/** Replaces the model of a JSON body. Returns null for a body that names no model, which is passed on as it is. */
export function pinJsonModel(body: Buffer, path: string, model: string): Buffer | null {
  const value = parseExactly(body.toString('utf8'))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const isNamed = 'model' in value && typeof value.model === 'string'
  if (!isNamed && !isModelRoute(path)) return null
  return Buffer.from(JSON.stringify({ ...value, model }))
}

/** The compiler does not know these members of the language yet. */
const ExactJson = JSON as unknown as {
  parse(text: string, revive: (key: string, value: unknown, at: { source?: string }) => unknown): unknown
  rawJSON(text: string): unknown
}

/** Keeps numbers as they are written: `seed` may have more digits than a number of JavaScript. */
function parseExactly(text: string): unknown {
  try {
    return ExactJson.parse(text, (_, value, { source }) =>
      typeof value === 'number' && source !== undefined ? ExactJson.rawJSON(source) : value,
    )
  } catch {
    // The gateway says what is wrong with it.
    return null
  }
}
