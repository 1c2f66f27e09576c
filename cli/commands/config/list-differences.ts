import type { Schemas } from '../../api/gateway-client.ts'
import { printable } from '../../output/printable.ts'

type Change = Schemas['ConfigApplied']['changes'][number]

const SIGNS: Readonly<Record<Change['action'], string>> = { create: '+', change: '~', delete: '-' }
const VALUE_LENGTH_MAX = 200

/** Returns a line for each change, and below it one for each member that differs. */
export function listDifferences(changes: readonly Change[]): string[] {
  return changes.flatMap(({ kind, action, name, difference }) => [
    `${SIGNS[action]} ${kind} ${printable(name)}`,
    ...(action === 'delete' ? [] : Object.entries(difference).flatMap(describeMember)),
  ])
}

function describeMember([name, value]: [string, unknown]): string[] {
  if (typeof value !== 'object' || value === null || !('to' in value)) return []
  const from = 'from' in value ? value.from : null
  if (isEmpty(from) && isEmpty(value.to)) return []
  const to = shorten(value.to)
  return [`    ${printable(name)}: ${isEmpty(from) ? to : `${shorten(from)} → ${to}`}`]
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0)
}

function shorten(value: unknown): string {
  const text = printable(JSON.stringify(value) ?? 'null')
  return text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX)}…` : text
}
