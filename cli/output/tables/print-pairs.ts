import { printable } from '../printable.ts'
import type { Output } from '../terminal.ts'

/** Prints names with their values below each other. */
export function printPairs(output: Output, pairs: readonly (readonly [string, string])[]): void {
  const width = Math.max(...pairs.map(([name]) => name.length))
  for (const [name, value] of pairs)
    output.line(`${output.style('dim', name.padEnd(width))}  ${printable(value)}`)
}
