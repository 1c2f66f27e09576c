import { formatRelative } from '../output/format-time.ts'
import { cutToWidth, widthOf } from '../output/text-width.ts'
import { formatLayout } from './format-layout.ts'
import { formatText } from './format-text.ts'
import { paint } from './paint.ts'
import type { TemplateTable } from './template-table.ts'
import { isTrue, lengthOf, memberOf, toText } from './template-values.ts'

type TemplateFunction = (...values: readonly unknown[]) => unknown

/** By the name that a template calls. */
export type TemplateFunctions = ReadonlyMap<string, TemplateFunction>

interface Surroundings {
  readonly isForPerson: boolean
  readonly table: TemplateTable
  readonly nowMs: number
}

/** Returns the functions of templates. Where one takes a value from a pipe, it is the last one. */
export function templateFunctions({ isForPerson, table, nowMs }: Surroundings): TemplateFunctions {
  const color = (style: unknown, value: unknown): string =>
    isForPerson ? paint(toText(style), toText(value)) : toText(value)
  return new Map<string, TemplateFunction>([
    ['and', (...values) => (values.every(isTrue) ? values.at(-1) : values.find((value) => !isTrue(value)))],
    ['or', (...values) => values.find(isTrue) ?? values.at(-1)],
    ['not', (value) => !isTrue(value)],
    ['eq', (value, ...others) => others.some((other) => other === value)],
    ['ne', (one, other) => one !== other],
    ['lt', (one, other) => compare(one, other) < 0],
    ['le', (one, other) => compare(one, other) <= 0],
    ['gt', (one, other) => compare(one, other) > 0],
    ['ge', (one, other) => compare(one, other) >= 0],
    ['len', lengthOf],
    ['index', (value, ...names) => names.reduce((found, name) => memberOf(found, nameOf(name)), value)],
    ['printf', (format, ...values) => formatText(toText(format), values)],
    ['join', (separator, list) => listOf(list).map(toText).join(toText(separator))],
    ['pluck', (name, list) => listOf(list).map((entry) => memberOf(entry, nameOf(name)))],
    ['truncate', (length, value) => truncate(Number(length), toText(value))],
    ['timeago', (time) => formatRelative(timestampOf(time), nowMs)],
    ['timefmt', (layout, time) => formatLayout(toText(layout), timestampOf(time))],
    ['color', color],
    ['autocolor', color],
    ['tablerow', (...cells) => table.add(cells.map(toText))],
    ['tablerender', () => table.render()],
  ])
}

/** Numbers by size, everything else by its characters. */
function compare(one: unknown, other: unknown): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other
  const [first, second] = [toText(one), toText(other)]
  if (first === second) return 0
  return first < second ? -1 : 1
}

function listOf(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return []
  if (!Array.isArray(value)) throw new Error(`${toText(value).slice(0, 40)} is no list`)
  return value
}

function nameOf(value: unknown): string | number {
  return typeof value === 'number' ? value : toText(value)
}

function truncate(columns: number, text: string): string {
  if (!Number.isInteger(columns) || columns < 1) throw new Error('truncate takes a length and a text')
  return widthOf(text) <= columns ? text : `${cutToWidth(text, columns - 1)}…`
}

/** Some times of the API are numbers of seconds. */
function timestampOf(time: unknown): string {
  const isTime = typeof time === 'number' && Math.abs(time) < 1e11
  return isTime ? new Date(time * 1_000).toISOString() : toText(time)
}
