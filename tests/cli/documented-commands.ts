import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')

/** Each command with its example, from docs/cli.md, which another test keeps equal to the help of the commands. */
export const DOCUMENTED_COMMANDS: readonly (readonly [name: string, example: string])[] = readFileSync(
  join(ROOT, 'docs/cli.md'),
  'utf8',
)
  .split(/^## (?=parkway )/m)
  .slice(1)
  .map((text) => [text.split('\n')[0] ?? '', /^Example:\n {2}(.+)$/m.exec(text)?.[1] ?? ''])

/** Returns the words of the command within an example, with the values of its variables, as a shell would split it. */
export function wordsOf(example: string, valueOf: (variable: string) => string): string[] {
  const command = /parkway .*/.exec(example)?.[0].split(/ [|>&]/)[0] ?? ''
  const words = command.match(/"[^"]*"|'[^']*'|(?:[^\s"']|"[^"]*")+/g) ?? []
  return words
    .slice(1)
    .map((word) => word.replaceAll(/["']/g, '').replace(/^\$(\w+)$/, (_, name: string) => valueOf(name)))
}
