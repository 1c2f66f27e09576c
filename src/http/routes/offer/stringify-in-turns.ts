import { stringify } from 'yaml'
import { ShortTurns } from '../../../kernel/turns/short-turns.ts'

/** Writes an object as YAML. Requests are served between the items of its lists, which may be thousands. */
export async function stringifyInTurns(document: Readonly<Record<string, unknown>>): Promise<string> {
  const turns = new ShortTurns()
  const parts: string[] = []
  for (const [name, value] of Object.entries(document)) {
    if (!Array.isArray(value) || value.length === 0) {
      parts.push(write({ [name]: value }))
      continue
    }
    parts.push(`${name}:\n`)
    for (const item of value) {
      if (turns.isOver) await turns.next()
      parts.push(write([item]).replaceAll(/^(?=.)/gm, '  '))
    }
  }
  return parts.join('')
}

function write(value: unknown): string {
  return stringify(value, { lineWidth: 0 })
}
