import recorded from './answer-examples.json' with { type: 'json' }
import { operationKey } from './operation-notes.ts'

const EXAMPLES: ReadonlyMap<string, unknown> = new Map(Object.entries(recorded))

/** An answer that the gateway once gave, with long lists cut. A test drives every operation and keeps them true. */
export function findAnswerExample(route: { method: string; path: string }, status: number): unknown {
  return EXAMPLES.get(`${operationKey(route)} ${status}`)
}
