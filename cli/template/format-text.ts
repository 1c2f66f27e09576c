import { widthOf } from '../output/text-width.ts'
import { toText } from './template-values.ts'

const WIDTH_MAX = 1_000
const DIGITS_MAX = 20
const PLACE = /%(-?)(\d*)(?:\.(\d+))?([a-zA-Z%])/g

type Show = (value: unknown, digits: number | null) => string

/** How each letter of a format shows a value. */
const SHOWN: ReadonlyMap<string, Show> = new Map<string, Show>([
  ['v', toText],
  ['s', (value, digits) => (digits === null ? toText(value) : toText(value).slice(0, digits))],
  ['q', (value) => JSON.stringify(toText(value))],
  ['d', (value) => String(Math.trunc(Number(value)))],
  ['f', (value, digits) => Number(value).toFixed(digits ?? 6)],
])

/** Formats values as printf does: `%s`, `%v`, `%q`, `%d` and `%f`, with a width and digits. */
export function formatText(format: string, values: readonly unknown[]): string {
  let used = 0
  return format.replaceAll(
    PLACE,
    (place, left: string, width: string, digits: string | undefined, letter: string) => {
      if (letter === '%') return '%'
      const show = SHOWN.get(letter)
      if (show === undefined) throw new Error(`printf has no ${place}`)
      if (used >= values.length) throw new Error(`printf has no value for ${place}`)
      if (Number(width) > WIDTH_MAX || Number(digits ?? 0) > DIGITS_MAX)
        throw new Error(`${place} is too wide`)
      const text = show(values[used], digits === undefined ? null : Number(digits))
      used += 1
      const padding = ' '.repeat(Math.max(0, Number(width) - widthOf(text)))
      return left === '-' ? text + padding : padding + text
    },
  )
}
