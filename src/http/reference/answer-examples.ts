import recorded from './answer-examples.json' with { type: 'json' }

const OPERATIONS: ReadonlyMap<string, unknown> = new Map(Object.entries(recorded.operations))
const SCHEMAS: ReadonlyMap<string, unknown> = new Map(Object.entries(recorded.schemas))

/**
 * Returns a recorded answer of the gateway, with long lists shortened. `name` is such as `GET /v1/models 200`. A test calls each
 * operation and keeps the recordings up to date.
 */
export function findRecordedAnswer(name: string): unknown {
  return expand(OPERATIONS.get(name))
}

/** Replaces `{ "$ref": "Model" }` by the example of that schema, which many operations share. */
function expand(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expand)
  if (typeof value !== 'object' || value === null) return value
  if ('$ref' in value) return expand(SCHEMAS.get(String(value.$ref)))
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, expand(member)]))
}
