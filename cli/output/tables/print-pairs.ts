import { printable } from '../printable.ts'
import type { Output } from '../terminal.ts'

/** Prints names with their values below each other. Further lines of a value are indented, so that none looks like a name. */
export function printPairs(output: Output, pairs: readonly (readonly [string, string])[]): void {
  const width = Math.max(...pairs.map(([name]) => name.length))
  for (const [name, value] of pairs) {
    const [first = '', ...others] = printable(value).split('\n')
    output.line(`${output.style('dim', name.padEnd(width))}  ${first}`)
    for (const line of others) output.line(`${' '.repeat(width)}  ${line}`)
  }
}
